import { useCallback, useEffect, useRef } from 'react';
import type { Connection, GatewayFrame, GatewayQuery } from './gateway.js';
import { useGateway } from './use-gateway.js';
import { type Resource, useResource } from './use-resource.js';

export interface LiveResource<T> extends Resource<T> {
  connection: Connection;
}

/** What a function fetches, kept up to date by `useLive`. */
export function useLiveResource<T>(
  key: string,
  fetcher: (signal: AbortSignal) => Promise<T>,
  query: GatewayQuery,
): LiveResource<T> {
  const resource = useResource(key, fetcher);
  const connection = useLive(resource, query);
  return { ...resource, connection };
}

/**
 * Loads something anew whenever the event gateway tells of a change. What is loaded is all that is shown, so a
 * connection that was lost leaves no gap and shows nothing twice. One load at a time, whatever comes in.
 */
export function useLive(
  resource: Reloadable,
  query: GatewayQuery,
  { concerns = () => true, spacing = 0 }: LiveOptions = {},
): Connection {
  const wake = useWake(resource, spacing);
  const connection = useGateway(query, { onFrame: (frame) => concerns(frame) && wake(), onGap: wake });
  // What happened before the gateway's first word, or while it was away, is in what is loaded after that word.
  useEffect(() => {
    if (connection === 'live') wake();
  }, [connection, wake]);
  return connection;
}

export interface LiveOptions {
  /** Which frames are a change; all of them where it is left out. */
  concerns?: (frame: GatewayFrame) => boolean;
  /** Milliseconds between two loads that frames ask for. */
  spacing?: number;
}

interface Reloadable {
  loading: boolean;
  reload: () => void;
}

/**
 * A function that reloads now, or once more after the load that is under way and `spacing` milliseconds. It never
 * changes.
 */
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
