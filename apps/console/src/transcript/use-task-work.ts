import { useMemo } from 'react';
import { useTaskEvents } from '../api/use-task-events.js';
import { type Transcript, transcriptOf } from './transcript.js';
import { workIn } from './work-event.js';

export interface TaskWork {
  transcript: Transcript;
  /** True once an event of the Task was read. */
  isRead: boolean;
  /** Error that prevents reading, for example because the Task is a remote agent's. */
  error: unknown;
}

/** Follows the transcript of a Task's agent from its first event. The component needs a React `key` per Task. */
export function useTaskWork(taskId: string): TaskWork {
  const { events, error } = useTaskEvents(taskId);
  const transcript = useMemo(() => transcriptOf(events.flatMap(({ item }) => workIn(item) ?? [])), [events]);
  return { transcript, isRead: events.length > 0, error };
}
