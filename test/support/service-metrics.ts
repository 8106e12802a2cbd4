import type { Parley } from './parley.js';

/** The sum of a metric's samples at a replica; 0 where it has none. `labels` is a part of what stands in the braces. */
export async function metric(replica: Pick<Parley, 'url'>, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${replica.url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(labels));
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** How many of a replica's writes came too late: another replica had the Task. */
export function refusedWrites(replica: Pick<Parley, 'url'>): Promise<number> {
  return metric(replica, 'parley_journal_refused_total');
}
