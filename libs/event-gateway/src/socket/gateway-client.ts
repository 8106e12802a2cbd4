import { WebSocket } from 'ws';
import { RateMeter } from '#libs/access';
import { type EnterFrame, LARGE_FRAME, type PassingText, resolveText, ResponseBudgetExceeded } from '#libs/http-server';
import type { TaskScope } from '#libs/tasks';
import type { Follow } from '../event-gateway.js';

// Codes with which the service closes WebSockets (RFC 6455 section 7.4 and its registry).

/** Close code of a shutdown. */
export const GOING_AWAY = 1001;
/** Close code of a client that violated a limit, or whose credentials have expired. */
export const REFUSED = 1008;
export const INTERNAL_ERROR = 1011;
/** Close code that asks the client to return later: it was too slow, or the database is unreachable. */
export const TRY_AGAIN_LATER = 1013;

/** Subscription on a WebSocket, from its message to its end. */
export class Subscription {
  private readonly controller = new AbortController();
  private readonly end = Promise.withResolvers<void>();

  /** Signal that aborts when the subscription is no longer wanted. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves when all work for the subscription has ended. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  cancelSubscription(): void {
    this.controller.abort(CANCELED);
  }

  /** Reports that all work for the subscription has ended. */
  markEnded(): void {
    this.end.resolve();
  }
}

const CANCELED = new Error('The subscription is canceled');

/** Facts about an admitted socket: its caller, and the query in the address of its connection. */
export interface SocketAdmission {
  scope: TaskScope;
  /** Name of the caller under which limits count its requests and streams, see `limitName`. */
  who: string;
  /** Yields the frames of the query in the address of the connection. */
  follow: Follow;
  /** Reserves room for large frames in the memory of the process; absent: frames need no room. */
  enterFrame?: EnterFrame | undefined;
}

/** Bytes waiting in a socket above which the service waits until the client has received them. */
const MAX_WAITING = 1024 * 1024;
/** Maximum milliseconds that the service waits for a client to receive its waiting bytes; then it closes the socket. */
const DRAIN_TIMEOUT_MS = 30_000;

/** Rate limit of the messages and pings of one client. */
const MESSAGE_RATE = { requests: 100, perMs: 1000 };
/** Bytes of a message that count as one message toward MESSAGE_RATE: a large message counts as several. */
const BYTES_OF_MESSAGE = 4096;

/** Server side of one WebSocket of the event gateway. */
export class GatewayClient extends WebSocket {
  /** Open and opening subscriptions by id. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Admission of the client, set before anything is read from it. */
  admission!: SocketAdmission;
  private readonly gone = new AbortController();
  private readonly meter = new RateMeter(MESSAGE_RATE);
  /** Resolves when the text that is being sent has left the socket; `undefined` while `deliverText` need not wait. */
  private draining: Promise<void> | undefined;

  /** Signal that aborts when the client has left. */
  get left(): AbortSignal {
    return this.gone.signal;
  }

  /** Ends all work for the client. */
  markLeft(): void {
    this.gone.abort(CLOSED);
    for (const subscription of this.subscriptions.values()) subscription.cancelSubscription();
  }

  /** Counts a message, or more for a large one. @returns false if the client exceeds its rate limit */
  countMessage(bytes: number): boolean {
    const now = performance.now();
    for (let counted = 0; counted <= bytes; counted += BYTES_OF_MESSAGE) {
      if (this.meter.takeToken(now) > 0) return false;
    }
    return true;
  }

  /**
   * Sends a text, unless the signal has aborted before the socket accepts the text. Texts of one sender arrive in
   * order if the sender awaits each. Closes the socket if the client accepts nothing for thirty seconds, or if the
   * process does not get memory for a large text in time.
   * @returns a promise that resolves when the client can accept more
   */
  async deliverText(text: string | PassingText, signal: AbortSignal = this.left): Promise<void> {
    while (this.draining) await this.draining;
    if (this.readyState !== WebSocket.OPEN || signal.aborted) return;
    const enter = text.length < LARGE_FRAME ? undefined : this.admission.enterFrame;
    if (!enter && this.bufferedAmount < MAX_WAITING) return this.send(resolveText(text));
    const sending = enter ? this.sendLarge(text, enter, signal) : this.sendAndDrain(resolveText(text));
    this.draining = sending.finally(() => (this.draining = undefined));
    await this.draining;
  }

  /** Sends a frame in response to a message of the client. */
  async sendFrame(frame: object): Promise<void> {
    await this.deliverText(JSON.stringify(frame));
  }

  private async sendLarge(text: string | PassingText, enter: EnterFrame, signal: AbortSignal): Promise<void> {
    const leave = await enter(text.length).catch((error: unknown) => {
      if (!(error instanceof ResponseBudgetExceeded)) throw error;
      this.close(TRY_AGAIN_LATER, 'No room for a large frame; reconnect with your cursor');
    });
    try {
      if (this.readyState === WebSocket.OPEN && !signal.aborted) await this.sendAndDrain(resolveText(text));
    } finally {
      leave?.();
    }
  }

  private sendAndDrain(text: string): Promise<void> {
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.close(TRY_AGAIN_LATER, 'Too slow; reconnect with your cursor');
        this.terminate();
      }, DRAIN_TIMEOUT_MS);
      this.send(text, () => {
        clearTimeout(late);
        resolve();
      });
    });
  }
}

const CLOSED = new Error('The socket is closed');
