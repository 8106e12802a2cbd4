import type { AnyRunEvent as StreamedEvent } from '#libs/client';
import type { EventData } from '../console-panel/format-event.js';

export type { A2aArtifact, A2aPart } from '../api/task.js';

type Shown = 'type' | 'sequence' | 'timestamp' | 'node_id' | 'node_type' | 'instance' | 'payload';

/** An event of a run, as far as the console shows it. */
export type RunEvent = EventData & Pick<StreamedEvent, Shown>;
