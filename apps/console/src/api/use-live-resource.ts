import { useCallback, useEffect, useRef } from 'react';
import type { Connection, GatewayEventFrame, GatewayFilter } from './gateway.js';
import { useGateway } from './use-gateway.js';
import { type Resource, useResource } from './use-resource.js';

export interface LiveResource<T> extends Resource<T> {
  connection: Connection;
}

/** Fetches a resource and keeps it up to date as `useLive` does. */
export function useLiveResource<T>(
  key: string,
  fetcher: (signal: AbortSignal) => Promise<T>,
  query: GatewayFilter,
): LiveResource<T> {
  const resource = useResource(key, fetcher);
  const connection = useLive(resource, query);
  return { ...resource, connection };
}

/**
 * Reloads a resource whenever the event gateway reports a change.
 * - The whole resource is reloaded, so a lost connection leaves no gap and no duplicate.
 * - At most one load runs at a time.
 */
export function useLive(
  resource: Reloadable,
  query: GatewayFilter,
  { concerns = () => true, spacing = 0 }: LiveOptions = {},
): Connection {
  const wake = useWake(resource, spacing);
  const connection = useGateway(query, { onFrame: (frame) => concerns(frame) && wake(), onGap: wake });
  // Changes before the first frame, or during an outage, are in what is loaded now.
  useEffect(() => {
    if (connection === 'live') wake();
  }, [connection, wake]);
  return connection;
}

export interface LiveOptions {
  /** True if a frame means a change; by default every frame does. */
  concerns?: (frame: GatewayEventFrame) => boolean;
  /** Minimum milliseconds between two loads caused by frames. */
  spacing?: number;
}

interface Reloadable {
  loading: boolean;
  reload: () => void;
}

/** Returns a stable function that reloads now, or once more `spacing` milliseconds after the running load. */
function useWake({ loading, reload }: Reloadable, spacing: number): () => void {
  const busy = useRef(loading);
  const missed = useRef(false);
  const load = useRef(reload);
  useEffect(() => {
    load.current = reload;
    busy.current = loading || missed.current;
    if (loading || !missed.current) return;
    const timer = setTimeout(() => {
      missed.current = false;
      load.current();
    }, spacing);
    return () => clearTimeout(timer);
  }, [loading, reload, spacing]);
  return useCallback(() => {
    missed.current = busy.current;
    if (missed.current) return;
    busy.current = true;
    load.current();
  }, []);
}
