import type { Parley } from './parley.js';

/**
 * Returns the sum of a metric's samples at a replica; 0 if there are none. `labels` is a part of the text between the
 * braces.
 */
export async function metric(replica: Pick<Parley, 'url'>, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${replica.url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(labels));
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Returns the number of a replica's writes that were refused because another replica had taken over the Task. */
export function refusedWrites(replica: Pick<Parley, 'url'>): Promise<number> {
  return metric(replica, 'parley_journal_refused_total');
}
