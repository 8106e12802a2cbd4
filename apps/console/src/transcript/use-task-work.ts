import { useMemo } from 'react';
import { useTaskEvents } from '../api/use-task-events.js';
import { type Transcript, transcriptOf } from './transcript.js';
import { workIn } from './work-event.js';

export interface TaskWork {
  transcript: Transcript;
  /** Whether anything was read yet. */
  isRead: boolean;
  /** Why nothing can be read: the Task of an agent elsewhere, for example. */
  error: unknown;
}

/** What the agent of a Task did, from the first step on, live. It must be used for one Task alone: give the component a key. */
export function useTaskWork(taskId: string): TaskWork {
  const { events, error } = useTaskEvents(taskId);
  const transcript = useMemo(() => transcriptOf(events.flatMap(({ item }) => workIn(item) ?? [])), [events]);
  return { transcript, isRead: events.length > 0, error };
}
