import type { QueryKey } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { pauseFor } from './backoff.js';
import { type Connection, followGateway, type GatewayEventFrame, type GatewayFilter } from './gateway.js';
import { queries, retryFailed } from './queries.js';

export interface LiveOptions {
  /** True if a frame reports a change of what the query returns; by default every frame does. */
  concerns?: (frame: GatewayEventFrame) => boolean;
  /** Minimum milliseconds between two loads that frames cause; default 0. */
  spacing?: number;
}

/**
 * Reloads a query whenever the event gateway reports a change, while the component is mounted.
 * - Every load fetches the whole answer, and a load also follows each reconnect. A lost connection therefore leaves no
 *   gap and no duplicate.
 * - At most one load runs at a time.
 * @returns the state of the connection to the gateway
 */
export function useLive(
  queryKey: QueryKey,
  filter: GatewayFilter,
  { concerns = () => true, spacing = 0 }: LiveOptions = {},
): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const isChange = useEffectEvent(concerns);
  const getKey = useEffectEvent(() => queryKey);
  const followed = JSON.stringify(filter);
  useEffect(() => {
    const stop = new AbortController();
    const refresh = createRefresh(() => getKey(), spacing, stop.signal);
    const leave = followGateway(JSON.parse(followed) as GatewayFilter, {
      onFrame: (frame) => isChange(frame) && refresh(),
      onGap: refresh,
      onConnection: (state) => {
        setConnection(state);
        if (state !== 'live') return;
        retryFailed();
        // The load that starts now includes changes before the first frame or during an outage.
        refresh();
      },
    });
    return () => {
      stop.abort();
      leave();
    };
  }, [followed, spacing]);
  return connection;
}

/**
 * Returns a function that reloads the query. If it is called during a load, whose answer may lack the latest change,
 * the query is reloaded once more, `spacing` milliseconds after that load.
 */
export function createRefresh(getKey: () => QueryKey, spacing: number, signal: AbortSignal): () => void {
  let isWanted = false;
  let isBusy = false;
  const refreshWhileWanted = async (): Promise<void> => {
    isBusy = true;
    while (isWanted && !signal.aborted) {
      const filters = { queryKey: getKey() };
      isWanted = queries.isFetching(filters) > 0;
      await queries.invalidateQueries(filters, { cancelRefetch: false });
      if (isWanted) await pauseFor(spacing, signal);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void refreshWhileWanted();
  };
}
