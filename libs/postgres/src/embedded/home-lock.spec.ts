import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withHomeLock } from './home-lock.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-lock-'));
  file = join(folder, 'lock.sqlite');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('withHomeLock', () => {
  it('lets one in at a time', async () => {
    const events: string[] = [];
    let leave = (): void => undefined;
    const first = withHomeLock(file, 60_000, async () => {
      events.push('first in');
      await new Promise<void>((resolve) => (leave = resolve));
      events.push('first out');
    });
    const second = withHomeLock(file, 60_000, () => Promise.resolve(events.push('second in')));
    leave();
    await Promise.all([first, second]);
    expect(events).toEqual(['first in', 'first out', 'second in']);
  });

  it('is not held up by somebody who reads the file', async () => {
    await withHomeLock(file, 60_000, () => Promise.resolve());
    const reader = new DatabaseSync(file, { readOnly: true });
    try {
      reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
      expect(await withHomeLock(file, 60_000, () => Promise.resolve('in'))).toBe('in');
    } finally {
      reader.close();
    }
  });

  it('says who holds it, and does not wait longer than it was told', async () => {
    await withHomeLock(file, 60_000, () => Promise.resolve());
    const holder = new DatabaseSync(file);
    try {
      holder.exec('BEGIN EXCLUSIVE');
      const who = process.platform === 'linux' ? `\\(pid ${process.pid}\\) ` : '';
      await expect(withHomeLock(file, 1, () => Promise.resolve())).rejects.toThrow(
        new RegExp(`^Another process ${who}has held .*lock\\.sqlite for more than 1 ms$`),
      );
    } finally {
      holder.close();
    }
  });

  it.each([
    ['makes a file that only its owner reads', () => undefined],
    [
      'closes one that others could read',
      () => {
        writeFileSync(file, '');
        chmodSync(file, 0o644);
      },
    ],
  ])('%s', async (_name, prepare) => {
    prepare();
    await withHomeLock(file, 60_000, () => Promise.resolve());
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
