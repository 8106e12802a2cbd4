import assert from 'node:assert/strict';
import type { Task } from '../../../../libs/protocol/src/index.js';
import { rpc, send, sendTask, stream } from '../../../support/a2a.js';
import { until } from '../../../support/until.js';
import { type CalledAt, outcomeOf, PARTS, textIn } from '../a2a-called.js';
import type { PeerGap } from '../peer-cells.js';

/** Cells of the agent of ADK, whose answers come from a model: the model of these tests answers to words. */
export const ADK_AGENT = {
  stream: { says: '– its server sends the whole answer at its end; Parley streams that', test: comesAtOnce },
  ask: { says: '– its agents ask only through long-running tools, which this agent does not have' },
  'follow-up': { says: '✓', test: remembers },
  cancel: { says: '✓', test: cancels },
  resubscribe: { says: '✓', test: survivesCutBeforeWords },
  push: { says: '– its card offers no push notifications; Parley keeps its stream open', test: offersNoPush },
  parts: { says: '✓ its model gets files', test: showsFile },
  errors: { says: '✓', test: fails },
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

async function secondAnswer({ base }: CalledAt): Promise<string> {
  const first = await sendTask(base, 'remember blue');
  const next = await sendTask(base, 'recall', { fields: { contextId: first.contextId } });
  return textIn(next) || JSON.stringify(next);
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
async function showsFile(at: CalledAt): Promise<void> {
  assert.match(await outcomeOfFile(at), /got .*JVBERg==/);
}

/** Returns the JSON of the answer to a file, without what the caller sent. */
async function outcomeOfFile({ base }: CalledAt): Promise<string> {
  const answer = await send(base, [{ text: 'echo' }, PARTS[1]!]).catch((error: Error) => ({ error: error.message }));
  if (!('task' in answer)) return JSON.stringify(answer);
  const { status, artifacts } = answer.task;
  return JSON.stringify({ status, artifacts });
}

/** Checks that a cancel of the caller ends the Task. */
async function cancels(at: CalledAt): Promise<void> {
  const answer = await cancelAtWork(at);
  assert.equal(answer.result?.status.state, 'TASK_STATE_CANCELED', JSON.stringify(answer));
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
