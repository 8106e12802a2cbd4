import type { AnyRunEvent as StreamedEvent } from '#libs/client';
import type { EventData } from '../console-panel/format-event.js';

export type { A2aArtifact, A2aPart } from '../api/task.js';

type Shown = 'type' | 'sequence' | 'timestamp' | 'node_id' | 'node_type' | 'instance' | 'payload';

/** Members of a run's event that the console shows. */
export type RunEvent = EventData & Pick<StreamedEvent, Shown>;
