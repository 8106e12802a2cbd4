import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from './exit-code.js';
import { postgresProgram, runProgram } from './postgres-programs.js';

const PATH = process.env['PATH'];
let folder: string;

/**
 * Installs a fake `pg_dump` of a version as the first one on PATH. @param does shell commands that it executes when it
 * is called
 */
function install(version: number, does = ''): string {
  const place = join(folder, String(version));
  mkdirSync(place);
  const path = join(place, 'pg_dump');
  const says = `echo "pg_dump (PostgreSQL) ${version}.2 (made up)"`;
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = --version ]; then ${says}; exit; fi\n${does}\n`);
  chmodSync(path, 0o755);
  process.env['PATH'] = [place, process.env['PATH']].join(delimiter);
  return path;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-programs-'));
});

afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true });
});

const posix = process.platform === 'win32' ? describe['skip'] : describe;

posix("PostgreSQL's own programs", () => {
  it('are the oldest that will do', () => {
    for (const version of [98, 97, 99]) install(version);
    const path = join(folder, '98', 'pg_dump');
    expect(postgresProgram('pg_dump', { version: 98, because: 'It' })).toEqual({ path, version: 98 });
  });

  it('are asked for in a sentence where none will do', () => {
    for (const version of [98, 97]) install(version);
    const refusal = (): unknown => postgresProgram('pg_dump', { version: 99, because: 'PostgreSQL 99' });
    expect(refusal).toThrow(CommandError);
    expect(refusal).toThrow(
      /^PostgreSQL 99 needs pg_dump 99 or newer, which does not come with Parley; the newest here is .*98\/pg_dump, of 98\. Install .*postgresql-client-99/,
    );
  });

  it.each([
    ['postgres://me:p%40ss@host/db', 'p@ss', 'postgres://me@host/db'],
    [
      'postgres://%2Ftmp%2Fx:5432/db?require_auth=scram-sha-256',
      'none',
      'postgres://%2Ftmp%2Fx:5432/db?require_auth=scram-sha-256',
    ],
    [
      'postgres://me@host/db?options=-c%20a%3D1&password=p%2Bss&sslmode=no-verify&uselibpqcompat=true',
      'p+ss',
      'postgres://me@host/db?options=-c%20a%3D1&sslmode=require',
    ],
  ])('are told of %s apart from its password', async (url, password, rest) => {
    const path = install(99, 'echo "$2 ${PGPASSWORD-none}"');
    const { signal } = new AbortController();
    expect(await runProgram({ path, version: 99 }, [], url, signal)).toBe(`${rest} ${password}\n`);
  });

  it.each([
    ['/nowhere/libjemalloc.so.2', 'none'],
    ['', ''],
  ])('run without jemalloc, and keep any other LD_PRELOAD: %j', async (preloaded, expected) => {
    const before = process.env['LD_PRELOAD'];
    process.env['LD_PRELOAD'] = preloaded;
    try {
      const path = install(99, 'echo "${LD_PRELOAD-none}"');
      const { signal } = new AbortController();
      expect(await runProgram({ path, version: 99 }, [], undefined, signal)).toBe(`${expected}\n`);
    } finally {
      if (before === undefined) delete process.env['LD_PRELOAD'];
      else process.env['LD_PRELOAD'] = before;
    }
  });

  it('have ended when they are stopped', async () => {
    const ended = join(folder, 'ended');
    const path = install(99, `trap 'touch ${ended}; exit 1' TERM; touch ${ended}-not; while :; do sleep 0.01; done`);
    const stop = new AbortController();
    const running = runProgram({ path, version: 99 }, [], undefined, stop.signal);
    while (!existsSync(`${ended}-not`)) await delay(5);
    stop.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    expect(existsSync(ended)).toBe(true);
  });
});
