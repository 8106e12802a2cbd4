import type { Parley } from './parley.js';
import { until } from './until.js';

/** Waits until a service is ready: each of its checks has two seconds, which is little on a busy machine. */
export async function untilReady({ url }: Pick<Parley, 'url'>): Promise<void> {
  let last = '';
  const isReady = async (): Promise<boolean> => {
    const response = await fetch(`${url}/health/ready`);
    last = `${response.status} ${await response.text()}`;
    return response.status === 200;
  };
  await until(isReady, { what: () => `the service to be ready; it answered ${last}` });
}
