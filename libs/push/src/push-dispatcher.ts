import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { isDatabaseAway, retryWhileDatabaseDown } from '#libs/postgres';
import { callerKey, Shutdown, whenAborted, withinTime } from '#libs/service';
import { PushDeliveries } from './push-deliveries.js';
import { PushPlaces } from './push-places.js';
import { type DueQueue, type PushCaller, type PushLane, PushQueues } from './push-queues.js';

/**
 * Milliseconds between two searches for due queues. A search also finds queues that another process made due and has no
 * place for.
 */
const LOOK_MS = 1_000;
/**
 * Number of searches for due queues between two searches for lanes of gone replicas; most lanes are freed as soon as a
 * replica dies.
 */
const LOST_EVERY = 10;
/** Maximum milliseconds of one attempt (A2A 1.0, section 13.2 recommends 10 to 30 seconds). */
const ATTEMPT_MS = 10_000;
/**
 * Maximum milliseconds of an attempt at a receiver that gave no answer last time, while other receivers of its caller
 * wait for the same places.
 */
const CROWDED_ATTEMPT_MS = 3_000;

/**
 * Dispatches push notifications: starts lanes, each of which sends the notifications of one due queue and takes a place
 * of this process. Places are separate from job slots, so nothing else waits for a hanging receiver.
 * - It searches for due queues when this process made one due, when a lane ends, and every second.
 * - Callers alternate; a caller, and a tenant, has a share of the places. Receivers that answered the last attempt
 *   promptly come first (PushPlaces).
 */
@Injectable()
export class PushDispatcher implements OnApplicationBootstrap {
  private readonly logger = new Logger(PushDispatcher.name);
  private readonly places = new PushPlaces();
  /**
   * Running work of this process's lanes (workers on one queue); the key is the lane's unique id (`PushLane.holder`).
   */
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly cut = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private again = false;
  private stopped = false;
  private looks = 0;

  constructor(
    private readonly queues: PushQueues,
    private readonly deliveries: PushDeliveries,
    shutdown: Shutdown,
  ) {
    shutdown.registerStep('intake', () => this.stopIntake());
    shutdown.registerStep('executions', ({ signal }) => this.stop(signal));
  }

  onApplicationBootstrap(): void {
    this.queues.onDue(() => this.lookForDue());
    this.lookForDue();
    this.timer = setInterval(() => this.lookForDue(), LOOK_MS);
    this.timer.unref();
  }

  /** Searches for due queues now, or once more after the current search. */
  lookForDue(): void {
    this.again = true;
    this.looking ??= this.lookUntilDone().finally(() => (this.looking = undefined));
  }

  private async lookUntilDone(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        if (this.looks % LOST_EVERY === 0) await this.queues.freeLostLanes([...this.lanes.keys()]);
        this.looks += 1;
        await this.beginLanes();
      } catch (error) {
        if (!isDatabaseAway(error)) this.logger.error({ err: error }, 'Polling for due webhooks failed');
        return;
      }
    }
  }

  /**
   * Starts lanes for due queues, a few queues of each caller at a time (`findDue`). Ends when a search through all
   * callers has started no lane, or no place is left.
   */
  private async beginLanes(): Promise<void> {
    let [after, begun]: [PushCaller | undefined, number] = [undefined, 0];
    while (!this.places.isFull && !this.stopped) {
      const { queues, last } = await this.queues.findDue(after);
      begun += await this.enterQueues(inTurns(queues));
      if (last === undefined && begun === 0) return;
      if (last === undefined) begun = 0;
      after = last;
    }
  }

  /**
   * Starts a lane for each queue that gets a place of this process and a lane of its receiver.
   * @returns the number of started lanes
   */
  private async enterQueues(queues: readonly DueQueue[]): Promise<number> {
    const admitted = queues.filter((queue) => {
      const hasRoom = this.places.hasRoom(queue);
      if (hasRoom) this.places.takePlace(queue);
      return hasRoom;
    });
    const lanes =
      admitted.length === 0
        ? []
        : await this.queues.openLanes(admitted).catch((error: unknown) => {
            for (const queue of admitted) this.places.giveBack(queue);
            throw error;
          });
    const places = new Map(admitted.map((queue) => [queueKey(queue), queue]));
    for (const lane of lanes) {
      this.beginLane(lane, places.get(queueKey(lane))!);
      places.delete(queueKey(lane));
    }
    for (const place of places.values()) this.places.giveBack(place);
    return lanes.length;
  }

  private beginLane(lane: PushLane, place: DueQueue): void {
    const attemptMs = lane.failures > 0 && this.places.isCrowded(place) ? CROWDED_ATTEMPT_MS : ATTEMPT_MS;
    const work = this.runLane(lane, attemptMs).finally(() => {
      this.lanes.delete(lane.holder);
      this.places.giveBack(place);
      this.lookForDue();
    });
    this.lanes.set(lane.holder, work);
  }

  /** Works in a lane until its end. Never rejects. @param attemptMs time limit of one attempt, in milliseconds */
  private async runLane(lane: PushLane, attemptMs: number): Promise<void> {
    const { signal } = this.cut;
    try {
      await this.deliveries.workLane(lane, attemptMs, signal);
    } catch (error) {
      if (!signal.aborted)
        this.logger.warn({ err: error, receiver: lane.receiver }, 'A lane of webhooks was cut short');
    }
    // Other processes free what this one holds only once it is gone.
    await retryWhileDatabaseDown(() => this.queues.endLane(lane), signal).catch((error: unknown) => {
      if (!signal.aborted) this.logger.error({ err: error, receiver: lane.receiver }, 'A lane of webhooks did not end');
    });
  }

  private stopIntake(): void {
    this.stopped = true;
    clearInterval(this.timer);
  }

  /**
   * Stops starting lanes (workers on one queue), and lets running attempts finish until the signal aborts. Other
   * replicas send the rest.
   */
  private async stop(signal: AbortSignal): Promise<void> {
    this.stopIntake();
    const ended = Promise.all([this.looking, ...this.lanes.values()]);
    await Promise.race([ended, whenAborted(signal)]);
    this.cut.abort(new Error('This process stops'));
    await withinTime(ended, LOOK_MS);
    await this.queues.freeOwnLanes().catch(() => undefined);
  }
}

/** Interleaves the queues of callers. Within a caller, receivers that answered come first. */
function inTurns(queues: readonly DueQueue[]): DueQueue[] {
  const ofCallers = [...Map.groupBy(queues, callerKey).values()];
  const longest = Math.max(0, ...ofCallers.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => ofCallers.flatMap((its) => its[turn] ?? [])).flat();
}

function queueKey({ tenant, owner, receiver }: DueQueue): string {
  return JSON.stringify([tenant, owner, receiver]);
}
