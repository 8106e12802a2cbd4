import type { StreamResponse } from '#libs/protocol';
import type { CallAttempt, CallLimits } from './call-limits.js';
import { retrying } from './retry.js';

type Open = (attempt: CallAttempt) => AsyncIterable<StreamResponse>;

/**
 * One exchange with a single answer, tried again by the retry rule.
 * @param refused how long it is tried again where nobody listens, in milliseconds
 */
export function once<T>(limits: CallLimits, ask: (attempt: CallAttempt) => Promise<T>, refused = 0): Promise<T> {
  const attempted = async (): Promise<T> => {
    const attempt = limits.attempt();
    try {
      return await attempt.next(ask(attempt));
    } finally {
      attempt.end();
    }
  };
  return retrying(attempted, limits, refused);
}

/** One exchange with a stream of answers, tried again as `once` does until its first event is there. */
export async function* exchange(limits: CallLimits, open: Open, refused = 0): AsyncIterable<StreamResponse> {
  const { attempt, events, first } = await retrying(() => begin(limits, open), limits, refused);
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
