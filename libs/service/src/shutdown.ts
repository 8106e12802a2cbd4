import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from './config/app-config.js';
import { Readiness } from './readiness.js';
import { whenAborted, withinTime } from './waits.js';

/**
 * Phases of the shutdown, in order. The server listens until the phase `connections` is over; the later phases run
 * after it has closed.
 */
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

interface ShutdownContext {
  /**
   * Signal that aborts when the grace time (`SHUTDOWN_GRACE`) has passed. Steps must then release the rest of their
   * work to other replicas.
   */
  signal: AbortSignal;
}

export type ShutdownStep = (context: ShutdownContext) => unknown;

/** Total milliseconds after the grace time in which all steps hand their work over to other replicas. */
const LETTING_GO_MS = 3_000;
/** Minimum milliseconds that a phase gets after the grace time, even if earlier phases have used up LETTING_GO_MS. */
const LEAST_MS = 400;
/** Shutdown of each service that runs in this OS process; the key is the service's configuration. */
const SHUTDOWNS = new WeakMap<AppConfig, Shutdown>();
const FIRST_AFTER_LISTENING = SHUTDOWN_PHASES.indexOf('sessions');

/**
 * Ends the service in order: readiness turns 503, new work is refused, streams end, executions get the grace time, and
 * connections are closed. After the server has stopped listening, sessions, the database and its server end.
 * - Steps of one phase run concurrently.
 * - The failure of a step is logged and does not stop other steps.
 */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly steps = new Map<ShutdownPhase, ShutdownStep[]>();
  private readonly begun = new AbortController();
  /** Signal that aborts as soon as the shutdown begins. */
  readonly started: AbortSignal = this.begun.signal;
  private readonly grace = new AbortController();
  /** Time at which the grace time was over (`performance.now()`); 0 before. */
  private graceEndedAt = 0;
  private readonly logger = new Logger(Shutdown.name);

  constructor(
    private readonly config: AppConfig,
    private readonly readiness: Readiness,
  ) {
    SHUTDOWNS.set(config, this);
  }

  /**
   * Ends the started parts of a service whose startup failed. No application exists that could be closed; only the
   * registered steps run. Returns at once if no part has started.
   * @param graceMs grace time of the steps, in milliseconds; after it the steps still get LETTING_GO_MS together
   */
  static async afterFailedStart(config: AppConfig, graceMs = config.shutdownGraceMs): Promise<void> {
    const shutdown = SHUTDOWNS.get(config);
    await shutdown?.runFirst(graceMs);
    await shutdown?.onApplicationShutdown();
  }

  registerStep(phase: ShutdownPhase, step: ShutdownStep): void {
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

  /**
   * Returns the milliseconds that a step gets after the grace time. The phase `server` always gets the full time: the
   * database server belongs to this process and must not be left behind.
   */
  private lettingGoMs(phase: ShutdownPhase): number {
    if (phase === 'server') return LETTING_GO_MS;
    return Math.max(this.graceEndedAt + LETTING_GO_MS - performance.now(), LEAST_MS);
  }

  /**
   * Time limit of a step: waits for the end of the grace time, and then for `lettingGoMs`. Then rejects with an error
   * that names the phase. If the step has ended in time, `finished` aborts and ends the wait; the rejection then has no
   * effect.
   */
  private async lettingGoOver(phase: ShutdownPhase, finished: AbortSignal): Promise<void> {
    await whenAborted(this.grace.signal);
    await withinTime(whenAborted(finished), this.lettingGoMs(phase));
    throw new Error(`The phase ${phase} was not finished in time`);
  }
}
