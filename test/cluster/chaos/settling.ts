import type { StoredLog } from '../../support/stored-log.js';
import type { Failover } from './failover-driver.js';

/**
 * How long a Task took until its last event with a leader that had lasted: since it was made, or since the last leader
 * before its end, whichever came later. 0 where it ended while there was none.
 */
export function settlingMs({ events }: Pick<StoredLog, 'events'>, failovers: readonly Failover[]): number {
  const [made, ended] = [Date.parse(events[0]?.at ?? ''), Date.parse(events.at(-1)?.at ?? '')];
  const leaders = failovers.map(({ leaderAt }) => leaderAt.getTime()).filter((at) => at <= ended);
  return Math.max(0, ended - Math.max(made, ...leaders));
}
