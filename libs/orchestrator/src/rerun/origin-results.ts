import { type Artifact, type RunEventNote, runEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { loopEnded, nodeReused } from '../control-steps.js';
import type { OriginResult } from '../run-ending.js';
import { nodeCompleted, nodeError } from '../run-steps.js';

/** Results and failures of the instances in the log of a run, all iterations included. */
export class OriginResults {
  private readonly results = new Map<string, OriginResult>();
  private readonly failures = new Set<string>();

  constructor(log: readonly TaskEvent[]) {
    for (const event of log) if (!('task' in event)) this.readEvent(event);
  }

  findResult(instance: string): OriginResult | undefined {
    return this.results.get(instance);
  }

  /** Names of the failed instances, in the order of failure. A failed list is replaced by its failed entries, if any. */
  get failed(): string[] {
    const failed = [...this.failures];
    const lists = new Set(failed.filter(isEntry).map((entry) => entry.slice(0, entry.lastIndexOf('['))));
    return failed.filter((instance) => !lists.has(instance));
  }

  private readEvent(event: Exclude<TaskEvent, { task: unknown }>): void {
    const isResult = 'artifactUpdate' in event;
    const note = runEventNote(isResult ? event.artifactUpdate.metadata : event.statusUpdate.metadata);
    const instance = note && readInstanceName(note);
    if (note === undefined || instance === undefined) return;
    if (note.type === nodeCompleted.type || note.type === nodeReused.type) {
      const reported = note.payload['artifacts'] as unknown as Artifact[] | undefined;
      const artifacts = reported ?? (isResult ? [event.artifactUpdate.artifact] : []);
      this.results.set(instance, { artifacts, ...(note.payload['fallback'] === true && { fallback: true }) });
    }
    if (note.type === nodeError.type || (note.type === loopEnded.type && note.payload['failure'] !== undefined))
      this.failures.add(instance);
  }
}

function isEntry(instance: string): boolean {
  return instance.endsWith(']');
}

function readInstanceName({ instance, node_id: id }: RunEventNote): string | undefined {
  return instance ?? id;
}
