import assert from 'node:assert/strict';
import { isTerminalState, type Task } from '../../../libs/protocol/src/index.js';
import { getTask, sendTask } from '../../support/a2a.js';
import { openDoor } from '../../support/doors.js';
import { until } from '../../support/until.js';
import { type CalledAt, textIn } from './a2a-called.js';

/** Checks that a parked Task ends by a poll of Parley, since its agent sends no notification. */
export async function endsByPoll({ stage, peer }: CalledAt): Promise<void> {
  const { path, write } = stage.release();
  const { base } = await openDoor(stage.parley.url, peer.url, { policy: { park: 1 } });
  const { id } = await sendTask(base, `tell ${path}`, { configuration: { returnImmediately: true } });
  const pollAt = async (time: string): Promise<boolean> => {
    const sql = `UPDATE registered_agent_task SET poll_at = ${time}
      WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`;
    return (await stage.database.query(sql, [id])).length === 1;
  };
  await until(() => pollAt("now() + interval '1 day'"), { what: 'the task to be parked' });
  write();
  const ended = async (): Promise<Task | undefined> => {
    await pollAt('now()');
    const task = await getTask(base, id);
    return isTerminalState(task.status.state) ? task : undefined;
  };
  assert.equal(textIn(await until(ended, { what: 'a poll to end the task' })), 'one two');
}

/** Checks that a Task is not parked whose agent refuses webhooks, and ends by its stream. */
export async function keepsStream({ stage, peer }: CalledAt): Promise<void> {
  const { path, write } = stage.release();
  const { base } = await openDoor(stage.parley.url, peer.url, { policy: { park: 1 } });
  const earlier = peer.relay.sent.length;
  const { id } = await sendTask(base, `tell ${path}`, { configuration: { returnImmediately: true } });
  const isOffered = (): boolean => peer.relay.sent.slice(earlier).includes('/pushNotificationConfigs');
  await until(isOffered, { what: 'Parley to register a webhook' });
  write();
  const ended = async (): Promise<Task | undefined> => {
    const task = await getTask(base, id);
    return isTerminalState(task.status.state) ? task : undefined;
  };
  assert.equal(textIn(await until(ended, { what: 'the task to end' })), 'one two');
}
