import type { WorkflowFailure } from '#libs/workflow-definition';
import { type CausedFailure, causeId, groupFailures, normalizeMessage, readFailure } from './failure-causes.js';

it.each([
  ['model "large" answered HTTP 500 after 1.5 s', 'model "large" answered HTTP 500 after <n> s'],
  ['GET https://a.example/x?token=1 failed', 'GET <url> failed'],
  ['task 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e is gone', 'task <id> is gone'],
  ['connect ECONNREFUSED 127.0.0.1:3000', 'connect ECONNREFUSED <n>'],
  ['  order 42\n is   closed ', 'order <n> is closed'],
  ['node "review-draft" failed', 'node "review-draft" failed'],
])('reduces the message %j to its constant parts', (message, reduced) => {
  expect(normalizeMessage(message)).toBe(reduced);
});

it('bounds a message, and reduces a hostile one', () => {
  expect(normalizeMessage('x'.repeat(100_000))).toHaveLength(240);
  expect(normalizeMessage('a-'.repeat(50_000)).length).toBeLessThanOrEqual(240);
  expect(normalizeMessage('1:'.repeat(50_000))).toMatch(/^<n>/);
});

it('groups failures by node, kind and reduced message, the most frequent cause first', () => {
  const failures = [
    failed(4, 'b', { kind: 'server-error', node: 'plan', message: 'HTTP 500 for order 4' }),
    failed(3, 'a', { kind: 'deadline', message: 'the deadline has passed' }),
    failed(2, 'a', { kind: 'server-error', node: 'plan', message: 'HTTP 500 for order 2' }),
    failed(1, 'a', { kind: 'server-error', node: 'write', message: 'HTTP 500 for order 1' }),
  ];
  expect(groupFailures(failures)).toEqual([
    {
      id: causeId(failures[0]!.failure),
      node: 'plan',
      kind: 'server-error',
      message: 'HTTP 500 for order <n>',
      runs: 2,
      firstSeen: new Date(2),
      lastSeen: new Date(4),
      runId: 'run-4',
      workflows: ['b', 'a'],
    },
    expect.objectContaining({ kind: 'deadline', runs: 1, runId: 'run-3' }),
    expect.objectContaining({ node: 'write', runs: 1, runId: 'run-1' }),
  ]);
});

it('names at most ten workflows of a cause', () => {
  const failure = { kind: 'internal', message: 'x' } as const;
  const failures = Array.from({ length: 30 }, (_, index) => failed(30 - index, `w${index}`, failure));
  expect(groupFailures(failures)).toMatchObject([{ runs: 30, workflows: { length: 10 } }]);
});

it('reads a failure without events as a failed run', () => {
  expect(readFailure(undefined)).toEqual({ kind: 'failed', message: 'The run failed' });
});

function failed(at: number, workflow: string, failure: WorkflowFailure): CausedFailure {
  return { runId: `run-${at}`, workflow, endedAt: new Date(at), failure };
}
