import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, type Environment, loadConfig } from './load-config.js';

let folder: string;
let s3: Record<string, string>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
  const [access, secret] = [join(folder, 'access'), join(folder, 'secret')];
  writeFileSync(access, 'AKIA\n');
  writeFileSync(secret, 'sEcReT/key\n');
  s3 = {
    FILES_S3_ENDPOINT: 'https://s3.example.com/',
    FILES_S3_BUCKET: 'parley-files',
    FILES_S3_ACCESS_KEY_FILE: access,
    FILES_S3_SECRET_KEY_FILE: secret,
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function linesFor(env: Environment): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).lines;
  }
}

describe('the configuration of files', () => {
  it('keeps files of 100 MiB in a folder, 10 GiB a caller, for ever, where nothing is said', () => {
    expect(loadConfig({}).files).toEqual({
      fileBytes: 100 * 1024 ** 2,
      ownerBytes: 10 * 1024 ** 3,
      retentionMs: undefined,
      isFolderShared: false,
      isFolderDurable: true,
    });
  });

  it.each([
    ['256kb', 256 * 1024],
    ['off', undefined],
    ['0', undefined],
  ])('keeps raw Parts as files from FILES_OFFLOAD on: %s', (FILES_OFFLOAD, bytes) => {
    expect(loadConfig({ FILES_OFFLOAD }).files.offloadBytes).toBe(bytes);
  });

  it('reads the keys of an S3 server from the files that are named', () => {
    expect(loadConfig({ ...s3, FILE_RETENTION: '30d' }).files).toMatchObject({
      retentionMs: 30 * 86_400_000,
      s3: {
        endpoint: 'https://s3.example.com',
        bucket: 'parley-files',
        region: 'us-east-1',
        accessKeyId: 'AKIA',
        secretAccessKey: 'sEcReT/key',
      },
    });
  });

  it.each(['FILES_S3_BUCKET', 'FILES_S3_ACCESS_KEY_FILE', 'FILES_S3_SECRET_KEY_FILE'])(
    'names %s where an S3 server is named without it',
    (name) => {
      expect(linesFor({ ...s3, [name]: undefined })).toEqual([`${name}: FILES_S3_ENDPOINT needs it`]);
      expect(linesFor({ [name]: s3[name] })).toEqual([`${name}: needs FILES_S3_ENDPOINT`]);
    },
  );

  it('names a file that holds no key, and never what it holds', () => {
    writeFileSync(s3['FILES_S3_SECRET_KEY_FILE']!, 'two\nlines');
    const missing = { ...s3, FILES_S3_ACCESS_KEY_FILE: join(folder, 'missing') };
    expect(linesFor(missing)).toEqual([
      'FILES_S3_ACCESS_KEY_FILE: must name a readable file with a key in one line',
      'FILES_S3_SECRET_KEY_FILE: must name a readable file with a key in one line',
    ]);
  });

  it.each([
    ['FILE_LIMIT', '6gb'],
    ['FILES_QUOTA', 'much'],
    ['FILE_RETENTION', '1s'],
    ['FILES_DIR_SHARED', 'yes'],
    ['FILES_DIR_DURABLE', 'no'],
    ['FILES_OFFLOAD', 'on'],
    ['FILES_OFFLOAD', '1kb'],
    ['FILES_S3_REGION', 'US East'],
  ])('refuses %s=%s by its name', (name, value) => {
    expect(linesFor({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: must be`))]);
  });

  it.each(['ftp://s3.example.com', 'https://user:pw@s3.example.com', 'https://s3.example.com/path'])(
    'refuses the endpoint %s',
    (FILES_S3_ENDPOINT) => {
      expect(linesFor({ ...s3, FILES_S3_ENDPOINT })).toEqual([expect.stringMatching(/^FILES_S3_ENDPOINT: must be/)]);
    },
  );
});
