import { jest } from '@jest/globals';
import { Readable } from 'node:stream';
import { storageUnavailable } from './file-errors.js';
import { OwnFileUrls } from './own-file-urls.js';
import { OwnFiles } from './part-files.js';
import { newFileId, type StoredFile } from './stored-file.js';

const BASE = 'https://parley.example.com';
const owner = { tenant: 'acme', owner: 'ann' };
const file: StoredFile = {
  ...owner,
  id: newFileId(new Date()),
  name: 'a.txt',
  mediaType: 'text/plain',
  size: 7,
  sha256: 'x',
  createdAt: new Date(),
};
const url = `${BASE}/api/files/${file.id}`;
const { signal } = new AbortController();
const admitted = jest.fn(async (_bytes: number): Promise<void> => undefined);

const opened = jest.fn(async () => Readable.from([Buffer.from('con'), Buffer.from('tent')]));

async function* brokenOff(): AsyncGenerator<Buffer> {
  yield Buffer.from('con');
  throw new TypeError('terminated');
}

beforeEach(() => [opened, admitted].forEach((it) => it.mockClear()));

function ownFiles(): OwnFiles {
  const isOwner = (scope: { tenant: string; owner: string }): boolean =>
    scope.tenant === owner.tenant && scope.owner === owner.owner;
  const files = {
    findAmong: async (scope: typeof owner, ids: readonly string[]) =>
      new Map(isOwner(scope) && ids.includes(file.id) ? [[file.id, file]] : []),
    get: async (scope: typeof owner, id: string) => (isOwner(scope) && id === file.id ? file : undefined),
  };
  const contents = { openContent: opened };
  const addresses = {
    signAddress: ({ id }: StoredFile, base: string, until: Date) => `${base}/${id}@${until.getTime()}`,
  };
  const service = { ownUrls: [BASE], isOwnAddress: () => false, publicBaseUrl: () => BASE };
  const urls = new OwnFileUrls(service as never, { host: '0.0.0.0', publicUrl: BASE, allowedHosts: [] } as never);
  return new OwnFiles(files as never, contents as never, addresses as never, service as never, urls);
}

describe('OwnFiles', () => {
  it('reads a file by its URL', async () => {
    expect((await ownFiles().readContent(url, owner, admitted, signal))?.toString()).toBe('content');
  });

  it.each([
    `https://other.example.com/api/files/${file.id}`,
    `${BASE}.evil.example/api/files/${file.id}`,
    `${url}?x=1`,
    `${BASE}/api/files/1`,
    `${BASE}/api/runs/${file.id}`,
    'data:text/plain,x',
  ])('takes %s for no file of this service', async (other) => {
    expect(await ownFiles().readContent(other, owner, admitted, signal)).toBeUndefined();
  });

  it('reads no file of another owner, and none that is not admitted', async () => {
    await expect(ownFiles().readContent(url, { ...owner, owner: 'eve' }, admitted, signal)).rejects.toThrow(
      'file not found',
    );
    expect(admitted).not.toHaveBeenCalled();
    const refuse = async (bytes: number): Promise<void> => {
      throw new Error(`no room for ${bytes} bytes`);
    };
    await expect(ownFiles().readContent(url, owner, refuse, signal)).rejects.toThrow('no room for 7 bytes');
    expect(opened).not.toHaveBeenCalled();
  });

  it.each([
    ['does not answer', () => Promise.reject(storageUnavailable('away'))],
    ['breaks off', async () => Readable.from(brokenOff())],
  ])('reads a content again where the storage %s, and admits it once', async (_what, failure) => {
    opened.mockImplementationOnce(failure);
    expect((await ownFiles().readContent(url, owner, admitted, signal))?.toString()).toBe('content');
    expect(opened).toHaveBeenCalledTimes(2);
    expect(admitted).toHaveBeenCalledTimes(1);
  });

  it('waits for a storage that does not answer no longer than its signal', async () => {
    const leaving = new AbortController();
    const reason = new Error('canceled');
    opened.mockImplementationOnce(async () => {
      setImmediate(() => leaving.abort(reason));
      throw storageUnavailable('away');
    });
    await expect(ownFiles().readContent(url, owner, admitted, leaving.signal)).rejects.toBe(reason);
    expect(opened).toHaveBeenCalledTimes(1);
  });

  it('reads a content no further once the signal aborts', async () => {
    const endless = new Readable({ read: () => undefined });
    opened.mockImplementationOnce(async () => endless);
    const leaving = new AbortController();
    const reading = ownFiles().readContent(url, owner, admitted, leaving.signal);
    await new Promise(setImmediate);
    const reason = new Error('canceled');
    leaving.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(endless.destroyed).toBe(true);
  });

  it('opens the files of their owner alone, and leaves all other Parts as they are', async () => {
    const parts = [{ text: 'x' }, { url, filename: 'a.txt' }, { url: 'https://elsewhere.example/x' }];
    const [text, signed, elsewhere] = await ownFiles().openFiles(parts, owner, 60_000, signal);
    expect([text, elsewhere]).toEqual([parts[0], parts[2]]);
    expect(signed).toEqual({ url: expect.stringContaining(`${BASE}/${file.id}@`), filename: 'a.txt' });
    expect(await ownFiles().openFiles(parts, { tenant: 'other', owner: 'ann' }, 60_000, signal)).toEqual(parts);
  });
});
