import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import { notificationVerifier } from '../../../docs/push/verify-notification.mjs';
import { DoorAgent } from '../../support/door-agent.js';
import { openDoor } from '../../support/doors.js';
import { until } from '../../support/until.js';
import { type ReceivedNotification, WebhookReceiver } from '../../support/webhook-receiver.js';
import {
  isNamedPeer,
  isOverTls,
  type Peer,
  type PeerBinding,
  PEER_OPERATIONS,
  type PeerGap,
  type PeerRow,
  protocolBindingOf,
} from './peer-cells.js';
import { peerCell } from './peer-cell-tests.js';
import type { CallOptions, PeerProgram } from './peer-program.js';
import { type PeerStage, usePeerStage } from './peer-stage.js';

type CallsOperation = (typeof PEER_OPERATIONS)['a2a']['calls'][number];

/** Client of a peer, and the agent behind Parley that it calls. */
export interface CallsAt {
  stage: PeerStage;
  agent: DoorAgent;
  /** Base URL of the agent at Parley, with a slash at its end. */
  base: string;
  /** Runs an operation of the client. @returns the printed lines */
  call(operation: string, args?: readonly string[], options?: CallOptions): Promise<string[]>;
  /** Runs an operation of the client at another base URL. */
  callAt(base: string, operation: string, args?: readonly string[], options?: CallOptions): Promise<string[]>;
}

/** Declares the cells of a peer whose client calls a registered agent of Parley over a binding. */
export function describeCalls(
  peer: Peer,
  binding: PeerBinding,
  build: () => PeerProgram | string,
  gaps: Partial<Record<CallsOperation, PeerGap<CallsAt>>> = {},
): void {
  if (!isNamedPeer(peer)) return;
  describe(`${peer.title} calls Parley over ${binding}`, () => {
    const row: PeerRow = { peer, binding, direction: 'calls' };
    const stage = usePeerStage();
    let at: CallsAt | string;

    before(async () => {
      const built = build();
      if (typeof built === 'string') return void (at = built);
      const program = isOverTls(binding) ? built.withEnv(await stage.speakTls()) : built;
      const agent = await DoorAgent.start();
      stage.defer(() => agent.end());
      const base = `${(await openDoor(stage.parley.url, agent.url)).base}/`;
      const callAt: CallsAt['callAt'] = async (url, operation, args = [], options = {}) =>
        (await program.call(['a2a-call', url, protocolBindingOf(binding), operation, ...args], options)).lines;
      at = { stage, agent, base, callAt, call: (...given) => callAt(base, ...given) };
    });

    for (const operation of PEER_OPERATIONS.a2a.calls)
      peerCell(row, operation, gaps[operation] ?? { says: '✓', test: TESTS[operation] }, () => at);
  });
}

const COMPLETED = /TASK_STATE_COMPLETED|"completed"|"state":3\b/;

const TESTS: Readonly<Record<CallsOperation, (at: CallsAt) => Promise<void>>> = {
  async send({ call }) {
    const [line = ''] = await call('send', ['tea']);
    assert.match(line, /"tea"/);
    assert.match(line, COMPLETED);
  },
  async stream({ call, agent }) {
    const lines = await call('stream', ['hold'], {
      onLine: async (line) => {
        if (!line.includes('first ')) return;
        await agent.untilHolding();
        agent.release();
      },
    });
    assert.ok(lines.findIndex((it) => it.includes('first ')) < lines.findIndex((it) => it.includes('"last"')));
    assert.match(lines.join('\n'), COMPLETED);
  },
  async ask({ call }) {
    const [asked = '', answered = ''] = await call('ask', ['ask', 'green']);
    assert.match(asked, /which\?/);
    assert.match(asked, /INPUT_REQUIRED|"input-required"/);
    assert.match(answered, /green/);
    assert.match(answered, COMPLETED);
    assert.equal(memberOf(answered, 'id'), memberOf(asked, 'id'));
  },
  async 'follow-up'({ call }) {
    const [first = '', next = ''] = await call('follow-up', ['tea', 'milk']);
    assert.equal(memberOf(next, 'contextId'), memberOf(first, 'contextId'));
    assert.notEqual(memberOf(next, 'id'), memberOf(first, 'id'));
    assert.match(next, COMPLETED);
  },
  async cancel({ call }) {
    const lines = await call('cancel', ['hold']);
    assert.match(lines.at(-1) ?? '', /TASK_STATE_CANCELED|"canceled"/);
  },
  async resubscribe({ call, agent }) {
    const lines = await call('resubscribe', ['hold'], {
      onLine: async (_line, index) => {
        if (index !== 1) return;
        await agent.untilHolding();
        agent.release();
      },
    });
    assert.match(lines.join('\n'), /last/);
    assert.match(lines.at(-1) ?? '', COMPLETED);
  },
  async push({ call, agent, stage }) {
    const receiver = await WebhookReceiver.start();
    stage.defer(() => receiver.stop());
    await call('push', ['hold', receiver.url, 'token-of-ours']);
    await agent.untilHolding();
    agent.release();
    const ended = (): ReceivedNotification | undefined => receiver.received.find(({ body }) => COMPLETED.test(body));
    const { headers, body } = await until(ended, { what: 'the notification of the end' });
    assert.equal(headers['x-a2a-notification-token'], 'token-of-ours');
    await notificationVerifier(stage.parley.url, receiver.url)(headers, Buffer.from(body));
  },
  async parts({ call }) {
    const [line = ''] = await call('parts', ['echo']);
    for (const part of ['JVBERg==', 'tea.pdf', 'application/pdf', 'cups']) assert.ok(line.includes(part), line);
  },
  async errors({ call }) {
    const [failed = ''] = await call('send', ['fail']);
    assert.match(failed, /fail: why/);
    assert.match(failed, /FAILED|"failed"/);
    assert.match((await call('error')).at(-1) ?? '', /-32001|not.?found/i);
  },
  async key({ stage, agent, callAt }) {
    const { guarded, caller } = stage;
    const { base } = await openDoor(guarded.url, agent.url, {}, caller.headers);
    const right = await callAt(`${base}/`, 'send', ['fail'], { env: { PEER_KEY: caller.key } });
    assert.match(right.join('\n'), /fail: why/);
    const wrong = await callAt(`${base}/`, 'send', ['fail'], { env: { PEER_KEY: 'another' } });
    assert.match(wrong.join('\n'), /error.*(401|unauthenticated|unauthorized|credentials|key)/i);
  },
};

/** Returns a member of the Task that a line holds. */
function memberOf(line: string, name: string): unknown {
  const answer = JSON.parse(line) as Record<string, unknown>;
  const task = (answer['task'] ?? answer['result'] ?? answer) as Record<string, unknown>;
  return task[name];
}
