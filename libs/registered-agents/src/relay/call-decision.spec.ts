import { AgentCallError, type AgentCallFailure } from '#libs/a2a-client';
import { decideAfter, failureWords } from './call-decision.js';

function failed(kind: AgentCallFailure, options: { code?: number; status?: number } = {}) {
  const cause = new AgentCallError(kind, 'first line\n  at stack (file.ts:1)', options);
  return { kind, message: cause.message, retryable: true, cause };
}

it.each<[AgentCallFailure, boolean, boolean, boolean]>([
  ['connect', false, false, true],
  ['connect', true, false, false],
  ['connect', true, true, true],
  ['server-error', true, false, false],
  ['timeout', true, true, true],
])('after %s (sent: %p, Task known: %p) the same step is safe: %p', (kind, isSent, hasTask, isSafe) => {
  expect(decideAfter({ failure: failed(kind), isSent, hasTask })).toEqual({ kind: 'away', isSafe });
});

it.each<[AgentCallFailure, number | undefined, boolean, string]>([
  ['not-found', -32001, true, 'forgotten'],
  ['rpc-error', -32602, false, 'refused'],
  ['rpc-error', -32005, true, 'refused'],
  ['client-error', 413, false, 'refused'],
  ['rpc-error', -32603, false, 'failed'],
  ['unauthorized', 401, false, 'failed'],
  ['credential', undefined, false, 'failed'],
  ['invalid-response', undefined, true, 'failed'],
])('%s with code %p (Task known: %p) is %s', (kind, code, hasTask, decided) => {
  const failure = failed(kind, code === undefined ? {} : { code });
  expect(decideAfter({ failure, isSent: true, hasTask }).kind).toBe(decided);
});

it.each([
  [true, false, { kind: 'unread' }],
  [true, true, { kind: 'away', isSafe: true }],
  [false, false, { kind: 'away', isSafe: true }],
])('without memory for an answer (sent: %p, Task known: %p) it is %p', (isSent, hasTask, decision) => {
  expect(decideAfter({ failure: failed('overloaded'), isSent, hasTask })).toEqual(decision);
});

it('a time limit that has expired is not waited out', () => {
  const failure = { ...failed('timeout'), timedOut: true as const };
  expect(decideAfter({ failure, isSent: true, hasTask: true })).toEqual({ kind: 'failed' });
});

it('tells callers one line, and no name of a credential', () => {
  expect(failureWords(failed('rpc-error'))).toBe('first line');
  const hidden = new AgentCallError('credential', 'the credential "partner" is unknown');
  const words = failureWords({ kind: 'credential', message: hidden.message, retryable: false, cause: hidden });
  expect(words).not.toContain('partner');
});
