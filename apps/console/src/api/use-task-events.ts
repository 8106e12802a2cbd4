import { useEffect, useState } from 'react';
import type { Connection } from './gateway.js';
import type { TaskLogEvent } from './task.js';
import { followTaskLog } from './task-log.js';

/** Milliseconds between two renderings of the component; events that arrive meanwhile are collected. */
const GATHER = 30;

export interface TaskEvents {
  events: readonly TaskLogEvent[];
  connection: Connection;
  error: unknown;
}

/**
 * Follows a Task's log from its first event. The component needs a React `key` per Task, since the events are never
 * reset.
 */
export function useTaskEvents(taskId: string): TaskEvents {
  const [events, setEvents] = useState<readonly TaskLogEvent[]>([]);
  const [connection, setConnection] = useState<Connection>('connecting');
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const stop = new AbortController();
    let gathered: TaskLogEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const showGathered = (): void => {
      const fresh = gathered;
      gathered = [];
      timer = undefined;
      setEvents((shown) => [...shown, ...fresh]);
    };
    const onEvent = (sequence: number, item: TaskLogEvent['item']): void => {
      gathered.push({ sequence, item });
      timer ??= setTimeout(showGathered, GATHER);
    };
    followTaskLog('/a2a', taskId, 0, { onEvent, onConnection: setConnection }, stop.signal).catch(setError);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [taskId]);
  return { events, connection, error };
}
