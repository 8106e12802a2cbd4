import type { StoredLog } from '../../support/stored-log.js';
import type { Failover } from './failover-driver.js';

/**
 * Returns the time from a Task's creation, or from the last new leader before its last event if that is later, to this
 * event. 0 if the Task ended while there was no leader.
 */
export function settlingMs({ events }: Pick<StoredLog, 'events'>, failovers: readonly Failover[]): number {
  const [made, ended] = [Date.parse(events[0]?.at ?? ''), Date.parse(events.at(-1)?.at ?? '')];
  const leaders = failovers.map(({ leaderAt }) => leaderAt.getTime()).filter((at) => at <= ended);
  return Math.max(0, ended - Math.max(made, ...leaders));
}
