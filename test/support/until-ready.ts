import type { Parley } from './parley.js';
import { until } from './until.js';

/** Statuses of a readiness check at a service that is well: a busy machine may be late for one of its parts. */
export const READY_OR_LATE = [200, 503];

/**
 * Waits until a service is ready: each of its checks has two seconds, which is little on a busy machine.
 * @returns the body of the answer
 */
export async function untilReady({ url }: Pick<Parley, 'url'>): Promise<unknown> {
  let last = '';
  let body = '';
  const isReady = async (): Promise<boolean> => {
    const response = await fetch(`${url}/health/ready`);
    body = await response.text();
    last = `${response.status} ${body}`;
    return response.status === 200;
  };
  await until(isReady, { what: () => `the service to be ready; it answered ${last}` });
  return JSON.parse(body);
}
