import { AgentCallError } from '#libs/a2a-client';
import type { RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import type { RelayServices } from './relay-request.js';
import type { StoredTurn } from './relay-tasks.js';

/** Milliseconds until a turn that has not sent its Message yet is stored as unsent. */
const QUICK_MS = 500;

/**
 * Stored note that the Message of a turn has certainly not been sent (`StoredTurn.isUnsent`).
 * - A turn is stored as unsent while it waits: for room at the agent, before another attempt, and for a card or a
 *   connection that takes longer than QUICK_MS.
 * - The note is deleted before an attempt waits for its connection. If the connection takes longer than QUICK_MS, the
 *   note is stored again, so this attempt must not send any more: it ends unsent (`isMissed`). The next attempt deletes
 *   the note and uses the connection that came late.
 * - Statements of one turn never overlap.
 */
export class UnsentNote {
  private storing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  /** True if this attempt has sent the Message. */
  private isSent = false;
  /** True if this attempt has sent nothing because its connection took longer than the attempt waits. */
  private isMissed = false;

  constructor(
    private readonly services: Pick<RelayServices, 'tasks'>,
    private readonly context: Pick<RequestContext, 'taskId' | 'token' | 'signal' | 'assertClaimHeld'>,
    private readonly turn: StoredTurn,
    /** True if an earlier execution or an earlier attempt may have delivered the Message to the agent. */
    public mayBeSent: boolean,
  ) {}

  /**
   * True if the last attempt sent nothing because its connection took longer than the attempt waits. The next attempt
   * may begin without a pause.
   */
  get hasMissed(): boolean {
    return this.isMissed;
  }

  /**
   * Stores that the Message has not been sent (`true`, before the turn waits), or that it may have been (`false`,
   * before it is sent). Does nothing if that is stored already, or if an earlier attempt may have sent the Message.
   * @throws ExecutionInterrupted if another replica has the Task
   */
  store(isUnsent: boolean): Promise<void> {
    const stored = this.storing.then(() => this.storeNext(isUnsent));
    this.storing = stored.catch(() => undefined);
    return stored;
  }

  /** Begins an attempt, which `endAttempt` ends. */
  beginAttempt(): void {
    this.isSent = false;
    this.storeLate(() => undefined);
  }

  endAttempt(): void {
    this.stopTimer();
  }

  /** Stores that the Message may have been sent; call it before each attempt to send. @throws ExecutionInterrupted */
  readonly beforeSend = (): Promise<void> => {
    this.stopTimer();
    return this.store(false);
  };

  /**
   * Begins to wait for a connection, for at most QUICK_MS. If the previous attempt waited in vain, this attempt waits
   * without a limit.
   * @returns the function to call right before the Message is sent; it throws AgentCallError if the wait took longer
   * than QUICK_MS and the turn was therefore stored as unsent
   */
  readonly openGate = (): (() => void) => {
    let isClosed = false;
    if (!this.isMissed) this.storeLate(() => (isClosed = true));
    this.isMissed = false;
    return () => {
      this.stopTimer();
      this.isSent ||= !isClosed;
      this.isMissed = isClosed;
      if (isClosed) throw new AgentCallError('connect', 'the connection came late', { unsent: true });
    };
  };

  /**
   * Stores after QUICK_MS that the Message has not been sent, unless the attempt ends or sends the Message before.
   * @param close called right before that; from then on, this attempt must not send the Message
   */
  private storeLate(close: () => void): void {
    this.stopTimer();
    if (this.mayBeSent || this.isSent) return;
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (this.timer !== timer) return;
        close();
        this.store(true).catch(() => undefined);
      });
    }, QUICK_MS).unref();
    this.timer = timer;
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async storeNext(isUnsent: boolean): Promise<void> {
    const { context, services, turn } = this;
    const { taskId, token, signal } = context;
    if (turn.isUnsent === isUnsent || this.mayBeSent) return;
    const isHeld = await retryWhileUnreachable(() => services.tasks.noteUnsent(taskId, token, isUnsent), signal);
    if (!isHeld) {
      await context.assertClaimHeld();
      throw new Error(`The turn of task ${taskId} vanished`);
    }
    turn.isUnsent = isUnsent;
  }
}
