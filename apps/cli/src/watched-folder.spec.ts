import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyOnChange } from './dev.js';

let folder: string;
const ended = new AbortController();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-watched-'));
});
afterAll(() => {
  ended.abort();
  rmSync(folder, { recursive: true, force: true });
});

it('keeps up with what comes while it keeps up for the first time, and with what comes later', async () => {
  const seen: string[] = [];
  const kept = new Map(['first.yaml', 'later.yaml'].map((name) => [name, Promise.withResolvers<void>()]));
  let times = 0;
  const keep = async (): Promise<void> => {
    if (ended.signal.aborted) return;
    seen.splice(0, seen.length, ...readdirSync(folder));
    times += 1;
    // As somebody does who is quick.
    if (times === 1) writeFileSync(join(folder, 'first.yaml'), '');
    for (const name of seen) kept.get(name)?.resolve();
  };
  await applyOnChange(folder, keep, () => undefined, ended.signal);
  expect(seen).toEqual([]);
  await kept.get('first.yaml')?.promise;
  writeFileSync(join(folder, 'later.yaml'), '');
  await kept.get('later.yaml')?.promise;
});
