import { contentLength } from '#libs/protocol';
import { InFlight, type InFlightOwner } from '#libs/service';
import { eventBytes } from './log-size.js';
import type { RecordedEvent, TaskEvent } from './task-event.js';

/** A run keeps of what its steps tell (in the metadata of status updates) about an eighth. */
const KEPT_OF_STEPS_SHIFT = 3;
/** Of what is kept about half is there in several Tasks, but once in memory: a run has the very texts of its nodes. */
const SHARED_SHIFT = 1;

/**
 * What a recording's events count for in this process: their bytes until they are durable, less after that, nothing once
 * the Task is not at work here any more.
 */
export class RecordedBytes {
  private notDurable = 0;
  private kept = 0;
  private released = false;
  private readonly account: string;

  constructor(
    private readonly inFlight: InFlight,
    owner: InFlightOwner,
  ) {
    this.account = InFlight.accountOf(owner);
  }

  /** Of events that are not durable yet. */
  get waiting(): number {
    return this.notDurable;
  }

  recorded(bytes: number): void {
    this.notDurable += bytes;
    this.inFlight.add(this.account, bytes);
  }

  /** What is durable is not on its way any more; the Task keeps what it is made of. */
  written(events: readonly RecordedEvent[]): void {
    if (this.released) return;
    let [bytes, keeping] = [0, 0];
    for (const { event, json } of events) {
      const size = eventBytes(event, json);
      bytes += size;
      keeping += keptBytes(event, size);
    }
    keeping >>= SHARED_SHIFT;
    this.notDurable -= bytes;
    this.kept += keeping;
    this.inFlight.add(this.account, -bytes, keeping);
  }

  /** What was on its way may still become durable; it is nobody's here any more. */
  release(): void {
    this.released = true;
    this.inFlight.add(this.account, -this.notDurable, -this.kept);
    this.notDurable = 0;
    this.kept = 0;
  }
}

/** Messages and Artifacts stay with the Task; of what else a status tells only the newest does. */
function keptBytes(event: TaskEvent, bytes: number): number {
  if (!('statusUpdate' in event)) return bytes;
  const { message } = event.statusUpdate.status;
  const received = event.received ? contentLength(event.received.parts) : 0;
  const said = message ? contentLength(message.parts) : 0;
  return received + said + ((bytes - received) >> KEPT_OF_STEPS_SHIFT);
}
