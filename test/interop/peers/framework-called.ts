import assert from 'node:assert/strict';
import type { Task } from '../../../libs/protocol/src/index.js';
import { rpc, send, sendTask, stream } from '../../support/a2a.js';
import { openDoor } from '../../support/doors.js';
import { until } from '../../support/until.js';
import { answerIn, type CalledAt, outcomeOf, PARTS, textIn } from './a2a-called.js';
import type { PeerGap } from './peer-cells.js';

/** Tests of agents whose answers come from a model: the model of these tests says what the words of a caller select. */
export const MODEL_AGENT = {
  ask: { says: '– its agents ask no question over A2A' },
  push: { says: '– its card offers no push notifications; Parley keeps its stream open', test: offersNoPush },
  'follow-up': { says: '✓', test: remembers },
  resubscribe: { says: '✓', test: survivesCut },
  errors: { says: '✓', test: fails },
} as const satisfies Record<string, PeerGap<CalledAt>>;

/** Stream of an agent that sends its whole answer at its end. */
export const AT_ONCE = {
  stream: { says: '– its server sends the whole answer at its end; Parley streams that', test: comesAtOnce },
  resubscribe: { says: '✓', test: survivesCutBeforeWords },
} as const satisfies Record<string, PeerGap<CalledAt>>;

async function offersNoPush({ peer }: CalledAt): Promise<void> {
  const card = (await (await fetch(`${peer.url}/.well-known/agent-card.json`)).json()) as {
    capabilities?: { pushNotifications?: boolean };
  };
  assert.notEqual(card.capabilities?.pushNotifications, true);
}

/** Checks that the model gets the earlier Message of the context. */
async function remembers(at: CalledAt): Promise<void> {
  assert.match(await secondAnswer(at), /heard remember blue/);
}

/** Checks that a question stands in an Artifact, and that its answer goes to the same Task. */
export async function asksByArtifact({ base }: CalledAt): Promise<void> {
  const asked = await sendTask(base, 'ask');
  assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(asked.status));
  assert.match(JSON.stringify(asked.artifacts), /Which tea\?/);
  const answered = await sendTask(base, 'green', { fields: { taskId: asked.id } });
  assert.match(JSON.stringify(answered), /\[green\]/);
}

/** Checks that the model does not get the earlier Message of the context. */
export async function forgets(at: CalledAt): Promise<void> {
  assert.match(await secondAnswer(at), /heard nothing/);
}

async function secondAnswer({ base }: CalledAt): Promise<string> {
  const first = await sendTask(base, 'remember blue');
  const next = await sendTask(base, 'recall', { fields: { contextId: first.contextId } });
  return answerIn(next) || JSON.stringify(next);
}

async function fails({ base }: CalledAt): Promise<void> {
  assert.match(await outcomeOf(base, 'throw'), /TASK_STATE_FAILED|"error"/);
}

async function comesAtOnce({ base }: CalledAt): Promise<void> {
  const all = await (await stream(base, 'tell')).all();
  const withWords = all.filter(({ data }) => /"text":"(one |two)/.test(JSON.stringify(data)));
  assert.ok(withWords.length > 0, JSON.stringify(all));
  for (const { data } of withWords) assert.match(JSON.stringify(data), /one two/);
}

function survivesCut(at: CalledAt): Promise<void> {
  return cutAfter(at, 'one ', /two/);
}

function survivesCutBeforeWords(at: CalledAt): Promise<void> {
  return cutAfter(at, 'TASK_STATE_WORKING', /one two/);
}

/** Breaks the connection after an event, and lets the agent go on once Parley has come back. */
async function cutAfter({ stage, base, peer }: CalledAt, event: string, wanted: RegExp): Promise<void> {
  const { path, write } = stage.release();
  const events = await stream(base, `tell ${path}`);
  await events.find(({ data }) => JSON.stringify(data).includes(event));
  const earlier = peer.relay.sent.length;
  peer.relay.cut();
  const isBack = (): boolean =>
    /SubscribeToTask|tasks\/(re)?subscribe|GetTask|tasks\/get/.test(peer.relay.sent.slice(earlier));
  await until(isBack, { what: 'Parley to come back' });
  // After this answer the agent has taken the subscription in.
  await fetch(`${peer.url}/.well-known/agent-card.json`);
  write();
  const rest = JSON.stringify(await events.all());
  assert.match(rest, wanted);
  assert.match(rest, /TASK_STATE_COMPLETED/);
}

/** Checks that the model gets a file of the caller. */
export async function showsFile(at: CalledAt): Promise<void> {
  assert.match(await outcomeOfFile(at), /got .*JVBERg==/);
}

/** Checks that a file of the caller does not reach the model. */
export async function dropsFile(at: CalledAt): Promise<void> {
  const outcome = await outcomeOfFile(at);
  assert.match(outcome, /heard echo|got |TASK_STATE_COMPLETED/);
  assert.doesNotMatch(outcome, /got .*JVBERg==/);
}

/** Checks that a file reaches the agent without its name. */
export async function losesFileName({ base }: CalledAt): Promise<void> {
  const { artifacts = [] } = await sendTask(base, [{ text: 'echo' }, ...PARTS]);
  const [data, file] = [PARTS[0], { ...PARTS[1], filename: undefined }].map((part) => JSON.stringify(part));
  const given = artifacts.flatMap(({ parts }) => parts).map((part) => JSON.stringify(part));
  assert.ok(given.includes(data!) && given.includes(file!), given.join('\n'));
}

/** Checks that a cancel ends the Task of a caller whose agent has told no Task, and that the agent works on. */
export async function cancelsUntold({ base }: CalledAt): Promise<void> {
  const { id } = await sendTask(base, 'wait', { configuration: { returnImmediately: true } });
  const { body } = await rpc<Task>(base, 'CancelTask', { id });
  assert.equal(body.result?.status.state, 'TASK_STATE_CANCELED', JSON.stringify(body));
}

/** Checks that a broken connection fails the Task of a caller whose agent has told no Task. */
export async function failsWhenCut({ stage, base, peer }: CalledAt): Promise<void> {
  const { path, write } = stage.release();
  const earlier = peer.relay.sent.length;
  const events = await stream(base, `tell ${path}`);
  await until(() => peer.relay.sent.slice(earlier).includes(path), { what: 'the Message to reach the agent' });
  peer.relay.cut();
  const seen = JSON.stringify(await events.all());
  write();
  assert.match(seen, /TASK_STATE_(FAILED|INPUT_REQUIRED|REJECTED)/);
}

/** Checks that a file of the caller fails the Task. */
export async function failsOnFile(at: CalledAt): Promise<void> {
  assert.match(await outcomeOfFile(at), /TASK_STATE_(FAILED|REJECTED)|"error"/);
}

/** Returns the JSON of the answer to a file, without what the caller sent. */
async function outcomeOfFile({ base }: CalledAt): Promise<string> {
  const answer = await send(base, [{ text: 'echo' }, PARTS[1]!]).catch((error: Error) => ({ error: error.message }));
  if (!('task' in answer)) return JSON.stringify(answer);
  const { status, artifacts } = answer.task;
  return JSON.stringify({ status, artifacts });
}

/** Checks that a cancel of the caller ends the Task. */
export async function cancels(at: CalledAt): Promise<void> {
  const answer = await cancelAtWork(at);
  assert.equal(answer.result?.status.state, 'TASK_STATE_CANCELED', JSON.stringify(answer));
}

/** Checks that a cancel ends the Task of an agent of its own, since the agent takes no other Task while its model works. */
export async function cancelsAlone(at: CalledAt): Promise<void> {
  const { stage, program, binding } = at;
  const peer = await program.serveAgent(binding);
  stage.defer(() => peer.stop());
  await cancels({ ...at, peer, base: (await openDoor(stage.parley.url, peer.url)).base });
}

/** Cancels a Task whose agent is at work. @returns the answer of Parley */
async function cancelAtWork({ base }: CalledAt): Promise<{ result?: Task }> {
  const events = await stream(base, 'wait');
  const begun = await events.find(({ data }) => /TASK_STATE_WORKING|"one "/.test(JSON.stringify(data)));
  const { statusUpdate, artifactUpdate, task } = (begun.data.result ?? {}) as {
    statusUpdate?: { taskId: string };
    artifactUpdate?: { taskId: string };
    task?: Task;
  };
  const id = statusUpdate?.taskId ?? artifactUpdate?.taskId ?? task?.id ?? '';
  const { body } = await rpc<Task>(base, 'CancelTask', { id });
  events.abort();
  return body;
}

/** Checks that a failure has its text, and that a Task stays open whose executor raises an exception in a stream. */
export async function staysOpen({ base }: CalledAt): Promise<void> {
  assert.match(await outcomeOf(base, 'fail'), /TASK_STATE_FAILED.*no tea left/);
  const { id } = await sendTask(base, 'throw', { configuration: { returnImmediately: true } });
  const { body } = await rpc<Task>(base, 'CancelTask', { id });
  assert.equal(body.result?.status.state, 'TASK_STATE_CANCELED', JSON.stringify(body));
}

/** Checks that a run whose model fails is reported as completed, without an answer. */
export async function hidesFailure({ base }: CalledAt): Promise<void> {
  const task = await sendTask(base, 'throw');
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status));
  assert.equal(textIn(task), '');
}
