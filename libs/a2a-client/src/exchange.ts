import type { StreamResponse } from '#libs/protocol';
import type { CallAttempt, CallLimits } from './call-limits.js';
import { retrying } from './retry.js';

type Open = (attempt: CallAttempt) => AsyncIterable<StreamResponse>;

/** One exchange with a single answer, tried again by the retry rule. */
export function once<T>(limits: CallLimits, ask: (attempt: CallAttempt) => Promise<T>): Promise<T> {
  return retrying(async () => {
    const attempt = limits.attempt();
    try {
      return await attempt.next(ask(attempt));
    } finally {
      attempt.end();
    }
  }, limits);
}

/** One exchange with a stream of answers, tried again by the retry rule until its first event is there. */
export async function* exchange(limits: CallLimits, open: Open): AsyncIterable<StreamResponse> {
  const { attempt, events, first } = await retrying(() => begin(limits, open), limits);
  try {
    for (let next = first; !next.done; next = await attempt.next(events.next())) yield next.value;
  } finally {
    attempt.end();
    events.return?.()?.catch(() => undefined);
  }
}

async function begin(limits: CallLimits, open: Open) {
  const attempt = limits.attempt();
  try {
    const events = open(attempt)[Symbol.asyncIterator]();
    return { attempt, events, first: await attempt.next(events.next()) };
  } catch (error) {
    attempt.end();
    throw error;
  }
}
