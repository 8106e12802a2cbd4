import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { appMain, startParley } from '../../support/parley.js';
import { freshDatabase } from '../../support/postgres.js';

const DOCKERFILE = resolve(import.meta.dirname, '../../../Dockerfile');
const MAIN = process.env.PARLEY_TEST_MAIN ?? '';
const folder = mkdtempSync(join(tmpdir(), 'parley-compiled-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** Loads all of the service, and no more. */
async function help(
  env: Record<string, string> = { NODE_COMPILE_CACHE: folder },
  flags: readonly string[] = [],
): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, MAIN, '--help'], { env });
  expect(stderr).toBe('');
  return stdout;
}

/** What is kept of each script of the service: a file that is written anew is another one. */
function kept(): Map<string, { size: number; file: number }> {
  return new Map(
    globSync('*/*.code', { cwd: folder }).map((path) => {
      const { size, ino } = statSync(join(folder, path));
      return [path, { size, file: ino }];
    }),
  );
}

describe('a program of the bundle', () => {
  it('keeps what it has compiled, and begins with it the next time', async () => {
    const said = await help();
    const first = kept();
    expect(first.size).toBeGreaterThan(1);
    expect(await help()).toBe(said);
    expect(kept()).toEqual(first);
  });

  it('begins without what is broken of it, and keeps that anew', async () => {
    const before = kept();
    const [largest, { size, file }] = [...before].reduce((one, other) => (other[1].size > one[1].size ? other : one));
    truncateSync(join(folder, largest), Math.floor(size / 2));
    await help();
    const { [largest]: mended, ...others } = Object.fromEntries(kept());
    expect(mended?.file).not.toBe(file);
    expect(mended?.size).toBeGreaterThan(size / 2);
    before.delete(largest);
    expect(others).toEqual(Object.fromEntries(before));
  });

  it('keeps what is of use to the next one also when it has served', async () => {
    rmSync(folder, { recursive: true });
    const database = await freshDatabase();
    const parley = await startParley({ databaseUrl: database.url, env: { NODE_COMPILE_CACHE: folder } });
    await parley.stop();
    await database.drop();
    const served = kept();
    expect(served.size).toBeGreaterThan(1);
    await help();
    expect(kept()).toEqual(served);
  });

  it('begins in a container with what was compiled for the image', async () => {
    const text = readFileSync(DOCKERFILE, 'utf8');
    const made = /^RUN node (.*)dist\/src\/main\.js --help /m.exec(text)?.[1] ?? '';
    const [, ...flags] = JSON.parse(/^CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]') as string[];
    expect(flags.pop()).toBe('dist/src/main.js');
    rmSync(folder, { recursive: true });
    await help({ NODE_COMPILE_CACHE: folder }, made.split(' ').filter(Boolean));
    const image = kept();
    expect(image.size).toBeGreaterThan(1);
    await help({ NODE_COMPILE_CACHE: folder }, flags);
    expect(kept()).toEqual(image);
  });

  it('has in the image the allocator and the flags that npm start sets', async () => {
    const settings = (await import(resolve(DOCKERFILE, '../scripts/node-settings.mjs'))) as {
      nodeEnvironment(machine: object): Record<string, string>;
      nodeFlags(machine: object): string[];
    };
    const text = readFileSync(DOCKERFILE, 'utf8');
    const library = /find .* (\/\S+\/libjemalloc\.so\.2)$/m.exec(text)?.[1];
    const machine = { platform: 'linux', env: {}, exists: (path: string) => path === library, processors: 2 };
    const set = Object.entries(settings.nodeEnvironment(machine)).map((entry) => entry.join('='));
    expect(set).toHaveLength(4);
    const image = text.match(/^ENV .*$/gm)?.flatMap((line) => line.split(' '));
    expect(image).toEqual(expect.arrayContaining(set));
    const [, ...flags] = JSON.parse(/^CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]') as string[];
    const v8Flags = settings.nodeFlags(machine).filter((flag) => !flag.startsWith('--v8-pool-size='));
    expect(flags).toEqual([...v8Flags, 'dist/src/main.js']);
  });

  it('loads nothing of the service for a command that only asks a service', async () => {
    rmSync(folder, { recursive: true });
    const env = { NODE_COMPILE_CACHE: folder, PARLEY_URL: 'http://127.0.0.1:9' };
    await expect(promisify(execFile)(process.execPath, [appMain('cli'), 'runs'], { env })).rejects.toMatchObject({
      stderr: expect.stringContaining('127.0.0.1:9') as string,
    });
    const loaded = [...kept().keys()].map((path) => basename(path));
    expect(loaded).toContainEqual(expect.stringMatching(/^main-/));
    expect(loaded.filter((name) => /^(?:nestjs|rxjs|typeorm|pg|class-validator|zod|ajv)-/.test(name))).toEqual([]);
  });

  it('keeps nothing where Node is told to keep nothing', async () => {
    const before = kept();
    await help({});
    await help({ NODE_COMPILE_CACHE: folder, NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(kept()).toEqual(before);
  });
});
