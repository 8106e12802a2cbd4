import { setTimeout as delay } from 'node:timers/promises';
import { message, VERSION } from './a2a.js';

/** Milliseconds between two Messages, so that the concurrent work gets the processor. */
const PAUSE_MS = 200;

/**
 * Sends the Messages of one caller, one after the other, until the promise `other` settles. Throws for the first
 * Message whose Task does not complete.
 * @returns the number of completed Messages
 */
export async function besides(base: string, other: Promise<unknown>): Promise<number> {
  let answered = 0;
  let over = false;
  const ended = other.finally(() => (over = true));
  ended.catch(() => undefined);
  while (!over || answered < 3) {
    await answer(base, answered);
    answered += 1;
    await delay(PAUSE_MS);
  }
  await ended;
  return answered;
}

async function answer(base: string, id: number): Promise<void> {
  const response = await fetch(base, {
    method: 'POST',
    headers: { ...VERSION, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'SendMessage', params: { message: message('still there?') } }),
    signal: AbortSignal.timeout(180_000),
  });
  const text = await response.text();
  if (!response.ok || !text.includes('TASK_STATE_COMPLETED'))
    throw new Error(`Message ${id} of the other caller: ${response.status} ${text.slice(0, 500)}`);
}
