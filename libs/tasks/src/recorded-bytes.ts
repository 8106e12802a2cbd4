import { contentLength } from '#libs/protocol';
import { InFlight, type InFlightOwner } from '#libs/service';
import { eventBytes } from './log-size.js';
import type { RecordedEvent, TaskEvent } from './task-event.js';

/** A run keeps about an eighth of the metadata of its steps' status updates. */
const KEPT_OF_STEPS_SHIFT = 3;
/** About half of the kept bytes occur in several Tasks but once in memory: a run shares the texts of its nodes. */
const SHARED_SHIFT = 1;

/**
 * Memory that a recording's events count for: all bytes until they are durable, fewer afterwards, none once the Task is
 * no longer at work here.
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

  /** Bytes of events that are not durable yet. */
  get waiting(): number {
    return this.notDurable;
  }

  addRecorded(bytes: number): void {
    this.notDurable += bytes;
    this.inFlight.addBytes(this.account, bytes);
  }

  /** Replaces the bytes of durable events by those that the Task keeps in memory. */
  settleWritten(events: readonly RecordedEvent[]): void {
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
    this.inFlight.addBytes(this.account, -bytes, keeping);
  }

  /** Releases all bytes of the recording. Its pending events may still become durable. */
  releaseAll(): void {
    this.released = true;
    this.inFlight.addBytes(this.account, -this.notDurable, -this.kept);
    this.notDurable = 0;
    this.kept = 0;
  }
}

/** Returns the bytes that the Task keeps: Messages and Artifacts. Of other status content, only the newest is kept. */
function keptBytes(event: TaskEvent, bytes: number): number {
  if (!('statusUpdate' in event)) return bytes;
  const { message } = event.statusUpdate.status;
  const received = event.received ? contentLength(event.received.parts) : 0;
  const said = message ? contentLength(message.parts) : 0;
  return received + said + ((bytes - received) >> KEPT_OF_STEPS_SHIFT);
}
