/**
 * Measurements of one subject in one round, or the medians of several. Latencies are in milliseconds, CPU times in µs
 * per unit.
 */
export interface Measurement {
  perSecond: number;
  p50: number;
  p99: number;
  nodeCpu: number;
  /** CPU time of PostgreSQL. This and the next two members are undefined without PostgreSQL. */
  postgresCpu?: number;
  walBytes?: number;
  commits?: number;
  residentBytes: number;
  /** CPU time of the load generator. */
  loadCpu: number;
}

/** Returns the median of each value on its own. */
export function medians(rounds: readonly Measurement[]): Measurement {
  const of = (key: keyof Measurement): number => median(rounds.map((round) => round[key] ?? 0));
  const stored = rounds.some((round) => round.postgresCpu !== undefined);
  return {
    perSecond: of('perSecond'),
    p50: of('p50'),
    p99: of('p99'),
    nodeCpu: of('nodeCpu'),
    ...(stored && { postgresCpu: of('postgresCpu'), walBytes: of('walBytes'), commits: of('commits') }),
    residentBytes: of('residentBytes'),
    loadCpu: of('loadCpu'),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1);
  return (low + high) / 2;
}
