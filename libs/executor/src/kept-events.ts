import type { Message, Part } from '#libs/protocol';
import type { TaskEvent, TaskScope } from '#libs/tasks';
import type { HeldParts, PartKeeper, PartRestorer } from './part-keeper.js';

/** Stores the large Parts of one execution's events as files. A Part that occurs in several events is stored once. */
export class KeptEvents {
  private readonly kept = new WeakMap<Part, { raw: string | undefined; url: string | undefined; part: Part }>();
  private readonly restorers = new Set<PartRestorer>();
  private isOver = false;

  constructor(
    private readonly keeper: PartKeeper,
    private readonly owner: TaskScope,
    private readonly signal: AbortSignal,
  ) {}

  /** True if `keepEvent` may change the event. */
  concernsEvent(event: TaskEvent): boolean {
    return this.keeper.concernsParts(saidParts(event));
  }

  /** Returns the event with its large Parts stored as files: those of its Artifact or of its status Message. */
  async keepEvent(event: TaskEvent): Promise<TaskEvent> {
    const parts = await this.keepParts(saidParts(event));
    if ('artifactUpdate' in event) {
      const { artifactUpdate } = event;
      return { ...event, artifactUpdate: { ...artifactUpdate, artifact: { ...artifactUpdate.artifact, parts } } };
    }
    if (!('statusUpdate' in event) || !event.statusUpdate.status.message) return event;
    const { statusUpdate } = event;
    const message: Message = { ...statusUpdate.status.message!, parts };
    return { ...event, statusUpdate: { ...statusUpdate, status: { ...statusUpdate.status, message } } };
  }

  /** Returns Parts with large bytes stored as files. */
  async keepParts(parts: readonly Part[]): Promise<Part[]> {
    const fresh = parts.filter((part) => this.findKept(part) === undefined);
    if (this.keeper.concernsParts(fresh)) {
      const kept = await this.keeper.keepParts(fresh, this.owner, this.signal);
      for (const [index, part] of fresh.entries())
        if (kept[index] !== part) this.kept.set(part, { raw: part.raw, url: part.url, part: kept[index]! });
    }
    return parts.map((part) => this.findKept(part) ?? part);
  }

  /** Opens a restorer for Parts that will be recorded. It is disposed of with the execution at the latest. */
  partRestorer(): PartRestorer {
    const opened = this.keeper.restorer(this.owner, this.signal);
    const restorer: PartRestorer = {
      restoreParts: (parts) => opened.restoreParts(parts),
      [Symbol.dispose]: () => {
        this.restorers.delete(restorer);
        opened[Symbol.dispose]();
      },
    };
    if (this.isOver) opened[Symbol.dispose]();
    else this.restorers.add(restorer);
    return restorer;
  }

  /** Disposes of all open restorers: a run that has stopped reading needs no more restored Parts. */
  endRestorers(): void {
    this.isOver = true;
    for (const restorer of this.restorers) restorer[Symbol.dispose]();
  }

  /** Returns Parts as they were sent, until they are disposed of. */
  holdParts(parts: readonly Part[]): Promise<HeldParts> {
    return this.keeper.holdParts(parts, this.owner, this.signal);
  }

  /**
   * Returns the stored form of a Part. Its content is compared too, since an executor may reuse an object for several
   * Parts.
   */
  private findKept(part: Part): Part | undefined {
    const kept = this.kept.get(part);
    return kept && kept.raw === part.raw && kept.url === part.url ? kept.part : undefined;
  }
}

/** Returns the Parts that an agent sends in an event; none in a Task's first event. */
function saidParts(event: TaskEvent): readonly Part[] {
  if ('artifactUpdate' in event) return event.artifactUpdate.artifact.parts;
  return ('statusUpdate' in event && event.statusUpdate.status.message?.parts) || [];
}
