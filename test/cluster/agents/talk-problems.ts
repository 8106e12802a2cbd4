import type { StreamResponse } from '#libs/protocol';
import { streamEvent } from '#libs/protocol';
import type { StoredLog } from '../../support/stored-log.js';
import type { TestDatabase } from '../../support/postgres.js';

/** SQL that finds tool calls, and turns, for which more than one Task was created. */
const MADE_TWICE = `
  SELECT parent_task_id || ' has made ' || count(*) || ' Tasks for ' || parent_reference AS what FROM task
  WHERE parent_reference LIKE 'tool#%' OR parent_reference LIKE 'turn#%'
  GROUP BY parent_task_id, parent_reference HAVING count(*) > 1`;

/**
 * Returns the problems of the conversations in a trial: each turn must be requested once and recorded once, and so must
 * the end.
 */
export async function talkProblems(query: TestDatabase['query'], logs: readonly StoredLog[]): Promise<string[]> {
  const twice = await query<{ what: string }>(MADE_TWICE);
  const conversations = logs.filter(({ agent }) => agent === 'conversations');
  return [...twice.map(({ what }) => what), ...conversations.flatMap(toldProblems)];
}

function toldProblems({ taskId, events }: StoredLog): string[] {
  const told = events.flatMap(({ json }) => {
    const event = JSON.parse(json) as StreamResponse;
    const emitted = 'statusUpdate' in event ? streamEvent(event.statusUpdate.metadata) : undefined;
    const data = emitted?.['data'] as { phase: string; turn?: number } | undefined;
    return data ? [data.turn === undefined ? data.phase : `${data.phase} ${data.turn}`] : [];
  });
  const expected = ['turn 0', 'turn 1', 'turn 2', 'turn 3', 'turn 4', 'complete'];
  return told.join() === expected.join() ? [] : [`conversation ${taskId} has told ${told.join(', ')}`];
}
