import { Injectable, Logger, Optional } from '@nestjs/common';
import { EventEmitter2, OnEvent } from '@nestjs/event-emitter';
import type { Fact, FactHandler, FactName, FactPayloads } from '#libs/agent-sdk';

/**
 * Maximum number of unfinished calls of one handler. While a handler has this many, it does not get the facts (see
 * Facts) that are emitted.
 */
export const MOST_UNFINISHED_CALLS = 1_000;

/**
 * Calls one handler that a plugin registered for facts.
 *
 * - The handler gets a copy of each fact, so its changes are visible to no other handler.
 * - Exceptions and rejections of the handler are logged.
 * - A handler with too many unfinished calls is not called again until one of them ends. One warning is logged.
 */
class FactSubscriber {
  private readonly logger = new Logger('Facts');
  private unfinished = 0;
  private isPassedBy = false;

  /** @param source name of the handler in the log */
  constructor(
    private readonly name: string,
    private readonly handle: (fact: never) => unknown,
    private readonly source: string,
  ) {}

  /** Calls the handler with a copy of the fact, unless too many calls are unfinished. Never rejects. */
  async handleFact(fact: object): Promise<void> {
    if (this.unfinished >= MOST_UNFINISHED_CALLS) return this.passBy();
    this.unfinished += 1;
    try {
      await this.handle(structuredClone(fact) as never);
    } catch (error) {
      this.logger.error({ err: error, fact: this.name, source: this.source }, 'A listener to a fact failed');
    } finally {
      this.unfinished -= 1;
      this.isPassedBy = false;
    }
  }

  private passBy(): void {
    if (this.isPassedBy) return;
    this.isPassedBy = true;
    const [fact, { source, unfinished }] = [this.name, this];
    this.logger.warn({ fact, source, unfinished }, 'A listener to a fact is too slow and misses facts');
  }
}

/** Maximum number of facts that wait for their listeners; further facts are dropped. */
export const MOST_WAITING_FACTS = 10_000;
/**
 * Maximum milliseconds that listeners are called in one cycle of the event loop; the remaining listeners are
 * called in the next cycle.
 */
const TURN_MS = 5;

/**
 * Publishes facts to listeners in this process. A fact is an event about a change that this process has committed to
 * the database (ADR 28).
 * - A fact is emitted once, after its commit, by the replica that committed it.
 * - Listeners run in a later turn of the event loop, so waiters for the commit continue first.
 * - A listener that throws or rejects is logged, and affects neither the emitter nor other listeners.
 * - At most 10,000 facts wait for slow listeners; further facts are dropped.
 * - A lost fact loses a log line or a count, never a state. Methods with `OnFact` are not called before the application
 *   has started, and no listener is called after its shutdown.
 */
@Injectable()
export class Facts {
  private readonly logger = new Logger(Facts.name);
  private readonly waiting: [FactName, FactPayloads[FactName]][] = [];
  private isDropping = false;

  constructor(@Optional() private readonly emitter?: EventEmitter2) {}

  /** Queues a fact for its listeners; drops it if too many facts wait. Never throws. */
  emit<Name extends FactName>(name: Name, fact: FactPayloads[Name]): void {
    if (!this.emitter?.hasListeners(name)) return;
    if (this.waiting.length >= MOST_WAITING_FACTS) return this.warnDropping();
    if (this.waiting.push([name, fact]) === 1) setImmediate(() => this.deliverWaiting());
  }

  /** Emits a fact given as an object with its name and payload. Never throws. */
  emitNamed({ name, payload }: Fact): void {
    this.emit(name, payload);
  }

  /** Subscribes a handler to a fact. @param source name of the handler in the log if it fails */
  on<Name extends FactName>(name: Name, handle: FactHandler<Name>, source: string): void {
    const subscriber = new FactSubscriber(name, handle, source);
    this.emitter?.on(name, (fact: FactPayloads[Name]) => void subscriber.handleFact(fact));
  }

  private deliverWaiting(): void {
    const end = performance.now() + TURN_MS;
    let delivered = 0;
    do {
      const [name, fact] = this.waiting[delivered]!;
      delivered += 1;
      this.callListeners(name, fact);
    } while (delivered < this.waiting.length && performance.now() < end);
    this.waiting.splice(0, delivered);
    if (this.waiting.length > 0) setImmediate(() => this.deliverWaiting());
    else this.isDropping = false;
  }

  /** Calls the listeners. Never throws. */
  private callListeners(name: FactName, fact: FactPayloads[FactName]): void {
    try {
      this.emitter?.emit(name, fact);
    } catch (error) {
      this.logger.error({ err: error, fact: name }, 'A listener to a fact failed');
    }
  }

  private warnDropping(): void {
    if (this.isDropping) return;
    this.isDropping = true;
    this.logger.warn({ waiting: this.waiting.length }, 'Listeners to facts are too slow, and facts are dropped');
  }
}

/** Subscribes a method of a provider to a fact. */
export function OnFact<Name extends FactName>(name: Name) {
  return <Method extends FactHandler<Name>>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    OnEvent(name)(target, key, descriptor);
  };
}
