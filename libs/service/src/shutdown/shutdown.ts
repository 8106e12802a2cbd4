import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Readiness } from '../health/readiness.js';

/** In this order. Up to `connections` while the server still listens, the others after it has closed. */
export const SHUTDOWN_PHASES = [
  'readiness',
  'intake',
  'streams',
  'executions',
  'connections',
  'sessions',
  'database',
  'server',
] as const;
export type ShutdownPhase = (typeof SHUTDOWN_PHASES)[number];

export interface ShutdownContext {
  /** Aborted when the grace time (`SHUTDOWN_GRACE`) has passed: let go of what is left. */
  signal: AbortSignal;
}

export type ShutdownStep = (context: ShutdownContext) => unknown;

/** What all steps together may still take after the grace time, to give their work to another replica. */
const LETTING_GO_MS = 3_000;
/** What a phase may take all the same where those before it have used that up. */
const LEAST_MS = 400;
/** By the configuration of the process that they end. */
const SHUTDOWNS = new WeakMap<AppConfig, Shutdown>();
const FIRST_AFTER_LISTENING = SHUTDOWN_PHASES.indexOf('sessions');

/**
 * Ends the service in order: ready turns 503, new work is refused, streams end, executions get the grace time,
 * connections are closed; then, after the server has stopped listening, sessions, the database and its server.
 * Steps of one phase run side by side; a step's failure is logged and stops nobody.
 */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly steps = new Map<ShutdownPhase, ShutdownStep[]>();
  private readonly begun = new AbortController();
  private readonly grace = new AbortController();
  /** When the grace time was over (`performance.now()`). */
  private graceEndedAt = 0;
  private readonly logger = new Logger(Shutdown.name);

  constructor(
    private readonly config: AppConfig,
    private readonly readiness: Readiness,
  ) {
    SHUTDOWNS.set(config, this);
  }

  /**
   * Ends what was begun of a service that could not be put together: then there is no application that could be closed,
   * and what its parts have registered so far is all there is. Ends at once where no part has begun anything.
   * @param graceMs how long its steps may take
   */
  static async afterFailedStart(config: AppConfig, graceMs = config.shutdownGraceMs): Promise<void> {
    const shutdown = SHUTDOWNS.get(config);
    await shutdown?.runFirst(graceMs);
    await shutdown?.onApplicationShutdown();
  }

  /** Aborted as soon as the shutdown begins. */
  get started(): AbortSignal {
    return this.begun.signal;
  }

  register(phase: ShutdownPhase, step: ShutdownStep): void {
    this.steps.set(phase, [...(this.steps.get(phase) ?? []), step]);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.runFirst(this.config.shutdownGraceMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.runPhases(SHUTDOWN_PHASES.slice(FIRST_AFTER_LISTENING));
  }

  private async runFirst(graceMs: number): Promise<void> {
    this.readiness.draining = true;
    this.begun.abort();
    setTimeout(() => this.endGrace(), graceMs).unref();
    await this.runPhases(SHUTDOWN_PHASES.slice(0, FIRST_AFTER_LISTENING));
  }

  private endGrace(): void {
    this.graceEndedAt = performance.now();
    this.grace.abort();
  }

  private async runPhases(phases: readonly ShutdownPhase[]): Promise<void> {
    for (const phase of phases) {
      await Promise.all((this.steps.get(phase) ?? []).map((step) => this.runStep(phase, step)));
    }
  }

  private async runStep(phase: ShutdownPhase, step: ShutdownStep): Promise<void> {
    const finished = new AbortController();
    try {
      await Promise.race([step({ signal: this.grace.signal }), this.lettingGoOver(phase, finished.signal)]);
    } catch (error) {
      this.logger.error({ err: error, phase }, 'A step of the shutdown failed');
    } finally {
      finished.abort();
    }
  }

  /** The server is one that this process has begun: it is not to be left behind. */
  private lettingGoMs(phase: ShutdownPhase): number {
    if (phase === 'server') return LETTING_GO_MS;
    return Math.max(this.graceEndedAt + LETTING_GO_MS - performance.now(), LEAST_MS);
  }

  /** Rejects when a step has outlived the grace time for too long; never, once `finished`. */
  private async lettingGoOver(phase: ShutdownPhase, finished: AbortSignal): Promise<void> {
    await aborted(this.grace.signal);
    await unless(finished, this.lettingGoMs(phase));
    throw new Error(`The phase ${phase} was not finished in time`);
  }
}

/** Resolves after the time; never, once the signal is aborted. */
function unless(signal: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return;
    const timer = setTimeout(resolve, milliseconds).unref();
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
