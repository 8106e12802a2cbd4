import assert from 'node:assert/strict';
import { openDoor } from '../../support/doors.js';
import type { CallsAt } from './a2a-calls.js';
import type { PeerFinding, PeerGap } from './peer-cells.js';

/** Tests of clients that are agents of a framework, which show texts and no Tasks. */
export const AGENT_CLIENT = {
  send: { says: '✓', test: hearsAnswer },
  stream: { says: '✓', test: hearsPieces },
  ask: { says: '– it shows the question, and begins a new Task with the answer', test: hearsQuestion },
  'follow-up': { says: '✓', test: keepsContext },
  cancel: { says: '– it has no such call; the Task continues in Parley' },
  resubscribe: { says: '– it has no such call' },
  push: { says: '– it has no such call' },
  parts: { says: '– it sends texts only' },
  errors: { says: '✓', test: hearsFailure },
  key: { says: '✓', test: sendsKey },
} as const satisfies Record<string, PeerGap<CallsAt>>;

async function hearsAnswer({ call }: CallsAt): Promise<void> {
  assert.match((await call('send', ['tea'])).join('\n'), /tea/);
}

async function hearsPieces({ call, agent }: CallsAt): Promise<void> {
  let isReleased = false;
  const lines = await call('stream', ['hold'], {
    onLine: async (line) => {
      if (isReleased || !line.includes('first ')) return;
      isReleased = true;
      await agent.untilHolding();
      agent.release();
    },
  });
  assert.ok(lines.findIndex((it) => it.includes('first ')) < lines.findIndex((it) => /last(?!_?chunk)/i.test(it)));
}

async function hearsQuestion({ call }: CallsAt): Promise<void> {
  assert.match((await call('send', ['ask'])).join('\n'), /which\?/);
}

async function keepsContext({ call, agent }: CallsAt): Promise<void> {
  const earlier = agent.heard.length;
  await call('follow-up', ['tea', 'milk']);
  const [first, next] = agent.heard.slice(earlier).map(({ contextId }) => contextId);
  assert.ok(first !== undefined, 'The agent heard nothing');
  assert.equal(next, first);
}

/** Checks that a streamed call has the answer. */
export async function hearsAtEnd({ call }: CallsAt): Promise<void> {
  assert.match((await call('stream', ['tea'])).join('\n'), /tea/);
}

/** Checks that a failure is reported without the words of the agent. */
export async function hearsFailureOnly({ call }: CallsAt): Promise<void> {
  const printed = (await call('send', ['fail'])).join('\n');
  assert.match(printed, /TASK_STATE_FAILED/);
  assert.doesNotMatch(printed, /fail: why/);
}

/** Checks that each call begins a context of its own. */
export async function beginsContexts({ call, agent }: CallsAt): Promise<void> {
  const earlier = agent.heard.length;
  await call('follow-up', ['tea', 'milk']);
  const [first, next] = agent.heard.slice(earlier).map(({ contextId }) => contextId);
  assert.ok(first !== undefined && next !== undefined, 'The agent heard nothing');
  assert.notEqual(next, first);
}

/** Returns the cells of a client whose Messages Parley refuses, each with the same text. */
export function refusedClient(says: PeerFinding): Record<keyof typeof AGENT_CLIENT, PeerGap<CallsAt>> {
  const test = async ({ call }: CallsAt): Promise<void> => {
    assert.match((await call('send', ['tea'])).join('\n'), /-32602/);
  };
  const names = Object.keys(AGENT_CLIENT) as (keyof typeof AGENT_CLIENT)[];
  return Object.fromEntries(names.map((name) => [name, { says, test }])) as ReturnType<typeof refusedClient>;
}

async function hearsFailure({ call }: CallsAt): Promise<void> {
  assert.match((await call('send', ['fail'])).join('\n'), /fail: why/);
}

async function sendsKey({ stage, agent, callAt }: CallsAt): Promise<void> {
  const { guarded, caller } = stage;
  const { base } = await openDoor(guarded.url, agent.url, {}, caller.headers);
  const right = await callAt(`${base}/`, 'send', ['tea'], { env: { PEER_KEY: caller.key } });
  assert.match(right.join('\n'), /tea/);
  const wrong = await callAt(`${base}/`, 'send', ['tea'], { env: { PEER_KEY: 'another' } });
  assert.match(wrong.join('\n'), /401|unauthenticated|unauthorized|credentials|key/i);
}

/** Checks that a question is one to the person, whose answer goes to the same Task. */
export async function asksPerson({ call }: CallsAt): Promise<void> {
  const printed = (await call('ask', ['ask', 'green'])).join('\n');
  assert.match(printed, /which\?/);
  assert.match(printed, /"reply".*green/);
}

/** Returns the tests with replicas of Parley whose cards name no gRPC. */
export function withoutGrpc<Operation extends string>(
  gaps: Readonly<Record<Operation, PeerGap<CallsAt>>>,
): Record<Operation, PeerGap<CallsAt>> {
  const wrapped = Object.entries<PeerGap<CallsAt>>(gaps).map(([operation, { says, test }]) => [
    operation,
    test === undefined ? { says } : { says, test: async (at: CallsAt) => test(await atReplicas(at)) },
  ]);
  return Object.fromEntries(wrapped) as Record<Operation, PeerGap<CallsAt>>;
}

async function atReplicas(at: CallsAt): Promise<CallsAt> {
  const { parley, guarded } = await at.stage.withoutGrpc();
  const base = at.base.replace(at.stage.parley.url, parley.url);
  const stage = { ...at.stage, parley, guarded };
  return { ...at, base, stage, call: (...given) => at.callAt(base, ...given) };
}
