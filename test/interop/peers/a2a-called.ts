import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import { isTerminalState, type Message, type Part, type Task } from '../../../libs/protocol/src/index.js';
import { getTask, rpc, send, sendTask, stream } from '../../support/a2a.js';
import { keepCredential, newSecret } from '../../support/credentials.js';
import { openDoor } from '../../support/doors.js';
import { until } from '../../support/until.js';
import { external, linear, unique } from '../../support/workflow.js';
import {
  isNamedPeer,
  isOverTls,
  type Peer,
  type PeerBinding,
  PEER_OPERATIONS,
  type PeerGap,
  type PeerRow,
} from './peer-cells.js';
import { peerCell } from './peer-cell-tests.js';
import type { PeerProgram, ServedPeer } from './peer-program.js';
import { type PeerStage, usePeerStage } from './peer-stage.js';

type CalledOperation = (typeof PEER_OPERATIONS)['a2a']['called'][number];

/** Agent of a peer that is registered in Parley, and the stage. */
export interface CalledAt {
  stage: PeerStage;
  program: PeerProgram;
  binding: PeerBinding;
  peer: ServedPeer;
  /** Base URL of the registered agent at Parley. */
  base: string;
}

/** Parts without text, which agents answer with. */
export const PARTS: readonly Part[] = [
  { data: { cups: 2 } },
  { raw: 'JVBERg==', filename: 'tea.pdf', mediaType: 'application/pdf' },
];

/** Declares the cells of a peer whose agent Parley calls over a binding. */
export function describeCalled(
  peer: Peer,
  binding: PeerBinding,
  build: () => PeerProgram | string,
  gaps: Partial<Record<CalledOperation, PeerGap<CalledAt>>> = {},
): void {
  if (!isNamedPeer(peer)) return;
  describe(`Parley calls ${peer.title} over ${binding}`, () => {
    const row: PeerRow = { peer, binding, direction: 'called' };
    const stage = usePeerStage();
    let at: CalledAt | string;

    before(async () => {
      const built = build();
      if (typeof built === 'string') return void (at = built);
      const program = isOverTls(binding) ? built.withEnv(await stage.speakTls()) : built;
      const served = await program.serveAgent(binding);
      stage.defer(() => served.stop());
      at = { stage, program, binding, peer: served, base: (await openDoor(stage.parley.url, served.url)).base };
    });

    for (const operation of PEER_OPERATIONS.a2a.called)
      peerCell(row, operation, gaps[operation] ?? { says: '✓', test: TESTS[operation] }, () => at);
  });
}

const TESTS: Readonly<Record<CalledOperation, (at: CalledAt) => Promise<void>>> = {
  async send({ stage, base, peer }) {
    const answer = await sendTask(base, 'tell');
    assert.equal(answerIn(answer), 'one two', JSON.stringify(answer.status));
    const run = await stage.api.finish(linear(unique('peer'), external('x', peer.url, { prompt: 'tell' })));
    assert.equal(run.status, 'completed', JSON.stringify(run.error));
    assert.equal(run.state['x'], 'one two');
  },
  async stream({ stage, base }) {
    const { path, write } = stage.release();
    const events = await stream(base, `tell ${path}`);
    await events.find(({ data }) => JSON.stringify(data).includes('one '));
    write();
    const rest = JSON.stringify(await events.all());
    assert.match(rest, /two/);
    assert.match(rest, /TASK_STATE_COMPLETED/);
  },
  async ask({ base }) {
    const { id, status } = await sendTask(base, 'ask');
    assert.equal(status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(status));
    assert.match(JSON.stringify(status.message), /Which tea\?/);
    const answered = await sendTask(base, 'green', { fields: { taskId: id } });
    assert.equal(textIn(answered), '[green]', JSON.stringify(answered));
  },
  async 'follow-up'({ base }) {
    const first = await sendTask(base, 'context');
    const next = await sendTask(base, 'context', { fields: { contextId: first.contextId } });
    assert.notEqual(next.id, first.id);
    assert.ok(textIn(first) !== '', JSON.stringify(first));
    assert.equal(textIn(next), textIn(first));
  },
  async cancel({ base }) {
    const { id } = await sendTask(base, 'wait', { configuration: { returnImmediately: true } });
    await until(async () => (await getTask(base, id)).status.state === 'TASK_STATE_WORKING', { what: 'the work' });
    const { body } = await rpc<Task>(base, 'CancelTask', { id });
    assert.equal(body.result?.status.state, 'TASK_STATE_CANCELED', JSON.stringify(body));
  },
  async resubscribe({ stage, base, peer }) {
    const { path, write } = stage.release();
    const events = await stream(base, `tell ${path}`);
    await events.find(({ data }) => JSON.stringify(data).includes('one '));
    peer.relay.cut();
    write();
    const rest = JSON.stringify(await events.all());
    assert.match(rest, /two/);
    assert.match(rest, /TASK_STATE_COMPLETED/);
  },
  push: callBack,
  key: askForKey,
  async parts({ base }) {
    const answer = await sendTask(base, [{ text: 'echo' }, ...PARTS]);
    const parts = answer.artifacts?.flatMap((it) => it.parts) ?? [];
    for (const wanted of PARTS)
      assert.ok(
        parts.some((part) => holdsAll(part, wanted)),
        `No ${JSON.stringify(wanted)} in ${JSON.stringify(parts)}`,
      );
  },
  async errors({ base }) {
    const failed = await sendTask(base, 'fail');
    assert.equal(failed.status.state, 'TASK_STATE_FAILED');
    assert.match(JSON.stringify(failed.status.message), /no tea left/);
    assert.match(await outcomeOf(base, 'throw'), /TASK_STATE_FAILED|"error"/);
  },
};

/** Returns the JSON of what a caller gets for a text: a failed Task, or an error. */
export async function outcomeOf(base: string, text: string): Promise<string> {
  return send(base, text).then(
    (answer) => JSON.stringify(answer),
    (error: Error) => error.message,
  );
}

/** Checks that a parked Task ends by the notification of the agent, and not by a poll of Parley. */
async function callBack({ stage, peer }: CalledAt): Promise<void> {
  const { path, write } = stage.release();
  const { base } = await openDoor(stage.parley.url, peer.url, { policy: { park: 1 } });
  const { id } = await sendTask(base, `tell ${path}`, { configuration: { returnImmediately: true } });
  const isParked = async (): Promise<boolean> => {
    const sql = `UPDATE registered_agent_task SET poll_at = now() + interval '1 day'
      WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`;
    return (await stage.database.query(sql, [id])).length === 1;
  };
  await until(isParked, { what: 'the task to be parked' });
  write();
  const ended = async (): Promise<Task | undefined> => {
    const task = await getTask(base, id);
    return isTerminalState(task.status.state) ? task : undefined;
  };
  const task = await until(ended, { what: 'the notification to end the task' });
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status));
  assert.equal(textIn(task), 'one two');
}

/** Checks that Parley sends the key of a credential, and that a wrong key is reported as such. */
async function askForKey({ stage, program, binding }: CalledAt): Promise<void> {
  const key = newSecret();
  const served = await program.serveAgent(binding, { PEER_KEY: key });
  stage.defer(() => served.stop());
  const hosts = [served.url, served.url.replace(/\d+$/, `${served.relay.port}`)];
  const [right, wrong] = await Promise.all(
    [key, newSecret()].map((value) =>
      keepCredential(stage.api, { kind: 'api-key', parameter: 'x-api-key', hosts, value }).then((auth) =>
        openDoor(stage.parley.url, served.url, { auth }),
      ),
    ),
  );
  const answer = await sendTask(right!.base, 'tell');
  assert.equal(answerIn(answer), 'one two', JSON.stringify(answer.status));
  const refused = await outcomeOf(wrong!.base, 'tell');
  assert.match(refused, /does not accept who calls|unauthenticated|401/i);
  assert.ok(!refused.includes(key), refused);
}

/** Returns all texts of the Artifacts of a Task. */
export function textIn({ artifacts = [] }: Task): string {
  return artifacts.flatMap(({ parts }) => parts.map(({ text = '' }) => text)).join('');
}

/** Returns the texts of the Artifacts of a Task, or else those of its last Message, or else of all Messages of the agent. */
export function answerIn(task: Task): string {
  const { status, history = [] } = task;
  const textOf = ({ parts }: Pick<Message, 'parts'>): string => parts.map(({ text = '' }) => text).join('');
  const said = history.filter(({ role }) => role === 'ROLE_AGENT').map(textOf);
  return textIn(task) || textOf(status.message ?? { parts: [] }) || said.join('');
}

function holdsAll(part: Part, wanted: Part): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => JSON.stringify(part[name as keyof Part]) === JSON.stringify(value),
  );
}
