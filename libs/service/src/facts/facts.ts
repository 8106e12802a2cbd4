import { Injectable, Logger, Optional } from '@nestjs/common';
import { EventEmitter2, OnEvent } from '@nestjs/event-emitter';
import type { Fact, FactHandler, FactName, FactPayloads } from '#libs/authoring';
import { FactSubscriber } from './fact-subscriber.js';

/** Maximum number of facts that wait for their listeners; further facts are dropped. */
export const MOST_WAITING_FACTS = 10_000;
/** Milliseconds for which listeners are called in one turn of the event loop. */
const TURN_MS = 5;

/**
 * Notifies other modules of what this process has made durable (ADR 28).
 *
 * - A fact is emitted once, after its commit, by the replica that committed it.
 * - Listeners run in a later turn of the event loop, so waiters for the commit continue first.
 * - A listener that throws or rejects is logged, and affects neither the emitter nor other listeners.
 * - At most 10,000 facts wait for slow listeners; further ones are dropped.
 * - A lost fact loses a log line or a count, never a state. No listener is called before startup and after shutdown.
 */
@Injectable()
export class Facts {
  private readonly logger = new Logger(Facts.name);
  private readonly waiting: [FactName, FactPayloads[FactName]][] = [];
  private isDropping = false;

  constructor(@Optional() private readonly emitter?: EventEmitter2) {}

  /** Queues a fact for its listeners. Never throws. */
  emit<Name extends FactName>(name: Name, fact: FactPayloads[Name]): void {
    if (!this.emitter?.hasListeners(name)) return;
    if (this.waiting.length >= MOST_WAITING_FACTS) return this.warnDropping();
    if (this.waiting.push([name, fact]) === 1) setImmediate(() => this.deliverWaiting());
  }

  /** Emits a fact by the name that it carries. Never throws. */
  emitNamed({ name, payload }: Fact): void {
    this.emit(name, payload);
  }

  /** @param source name of the handler in the log if it fails */
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
