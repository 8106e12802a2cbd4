import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SharedCommits } from './commit-feed.js';
import type { Commit } from './commit-log.js';

const MEGABYTE = 1024 ** 2;

function commit(position: number, bytes = MEGABYTE, writer = 'w'): Commit {
  return { writer, position: BigInt(position), committedAt: new Date(0), bytes, events: [] };
}

it('SharedCommits gives the copy of a large commit that somebody holds', () => {
  const shared = new SharedCommits();
  const first = commit(1);
  expect(shared.shareCommit(first)).toBe(first);
  expect(shared.shareCommit(commit(1))).toBe(first);
  for (const other of [commit(2), commit(1, MEGABYTE, 'another'), commit(1, 100)])
    expect(shared.shareCommit(other)).toBe(other);
});

it('SharedCommits keeps no commit that nobody holds', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const shared = new SharedCommits();
  for (let position = 0; position < 100; position += 1) shared.shareCommit(commit(position));
  while (shared.size > 0) {
    // V8 holds an object that was seen in a cycle of the event loop until the end of that cycle.
    await turn();
    collect();
  }
});
