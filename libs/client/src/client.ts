import type { components } from './openapi.js';
import { ParleyError } from './parley-error.js';
import type { RunEvent } from './run-event.js';
import { RunFollower } from './run-follower.js';
import { ServiceCalls, type ServiceOptions, type ServiceRequest } from './service-calls.js';

type Schemas = components['schemas'];
type Run = Schemas['RunDetail'];

export type ClientOptions = ServiceOptions;

/** One request's own options. */
interface CallOptions {
  signal?: AbortSignal | undefined;
}

interface KeyOptions extends CallOptions {
  /** The same key and body: the same run, however often it is asked for. A new one for each call unless given. */
  idempotencyKey?: string | undefined;
}

interface EventsOptions extends CallOptions {
  /** The number of the last one that was seen. */
  since?: number;
  /** `false`: those so far, and none that come. */
  live?: boolean;
}

export interface AnswerOptions {
  /** The node that asks, or the instance of it. */
  node: string;
  /** What is answered, as A2A Parts. */
  parts: readonly Record<string, unknown>[];
}

/** Which runs are listed. */
interface RunFilter {
  workflow?: string;
  status?: string;
  q?: string;
  since?: string;
  pageSize?: number;
  pageToken?: string;
}

/**
 * Talks with one service. Whatever may be said twice is said again while the service is away or busy; what was started
 * is started once. Works wherever there is a `fetch`. Every method throws ParleyError where the service refuses, and
 * ParleyUnreachable where it does not answer.
 */
export interface ParleyClient {
  /** Starts a run; it goes on whoever listens. */
  run(workflow: string, inputs?: Record<string, unknown>, options?: KeyOptions): Promise<{ runId: string }>;
  /**
   * The events of a run from the first one, or after `since`, each once and in order, until the run has ended. A stream
   * that breaks is taken up where it broke.
   */
  events(runId: string, options?: EventsOptions): AsyncGenerator<RunEvent, void, void>;
  /** Waits until a run has ended, and gives it. */
  wait(runId: string, options?: CallOptions): Promise<Run>;
  get(runId: string, options?: CallOptions): Promise<Run>;
  list(filter?: RunFilter, options?: CallOptions): Promise<Schemas['RunPage']>;
  /** Answers what a run asks; it goes on then. */
  answer(runId: string, answer: AnswerOptions, options?: CallOptions): Promise<void>;
  cancel(runId: string, options?: CallOptions): Promise<Schemas['CanceledRun']>;
  /** Starts a new run that takes over results of one that has ended. */
  rerun(runId: string, body?: Schemas['RerunBody'], options?: KeyOptions): Promise<Schemas['StartedRerun']>;
  /** Any other operation of the management API, by its path; the answer is JSON. */
  call<T>(path: `/${string}`, request?: ServiceRequest): Promise<T>;
}

/**
 * @param options the service's URL, and a key where it asks for one
 * @throws ParleyError with the reason `MALFORMED` where no service can have the URL, or no header carries the key
 */
export function createClient(options: ClientOptions): ParleyClient {
  return new HttpClient(new ServiceCalls(options));
}

class HttpClient implements ParleyClient {
  readonly #calls: ServiceCalls;

  constructor(calls: ServiceCalls) {
    this.#calls = calls;
  }

  run(workflow: string, inputs: Record<string, unknown> = {}, options: KeyOptions = {}): Promise<{ runId: string }> {
    return this.#calls.json(`/api/workflows/${encodeURIComponent(workflow)}/runs`, keyed({ inputs }, options));
  }

  events(runId: string, { since = 0, live = true, signal }: EventsOptions = {}): AsyncGenerator<RunEvent, void, void> {
    const follower = new RunFollower(this.#calls, path(runId));
    return live ? follower.events(since, signal) : follower.known(since, signal);
  }

  async wait(runId: string, options: CallOptions = {}): Promise<Run> {
    for (;;) {
      const run = await this.get(runId, options);
      if (run.status === 'completed' || run.status === 'failed' || run.status === 'canceled') return run;
      for await (const event of this.events(runId, options)) if (event.type === 'done') break;
    }
  }

  get(runId: string, { signal }: CallOptions = {}): Promise<Run> {
    return this.#calls.json(path(runId), { signal });
  }

  list(filter: RunFilter = {}, { signal }: CallOptions = {}): Promise<Schemas['RunPage']> {
    return this.#calls.json('/api/runs', { query: { ...filter }, signal });
  }

  async answer(runId: string, answer: AnswerOptions, { signal }: CallOptions = {}): Promise<void> {
    await this.#calls.json(`${path(runId)}/answers`, { method: 'POST', body: answer, signal });
  }

  /** Said again where it was lost: a run that is canceled already answers as it did. */
  async cancel(runId: string, { signal }: CallOptions = {}): Promise<Schemas['CanceledRun']> {
    return this.#calls.json(`${path(runId)}/cancel`, { method: 'POST', repeatable: true, signal });
  }

  rerun(runId: string, body: Schemas['RerunBody'] = {}, options: KeyOptions = {}): Promise<Schemas['StartedRerun']> {
    return this.#calls.json(`${path(runId)}/rerun`, keyed(body, options));
  }

  call<T>(target: `/${string}`, request: ServiceRequest = {}): Promise<T> {
    return this.#calls.json(target, request);
  }
}

function keyed(body: unknown, { idempotencyKey = crypto.randomUUID(), signal }: KeyOptions): ServiceRequest {
  return { method: 'POST', body, headers: { 'idempotency-key': idempotencyKey }, signal };
}

function path(runId: string): `/${string}` {
  if (runId === '') throw new ParleyError({ status: 0, reason: 'MALFORMED', message: 'the id of the run is empty' });
  return `/api/runs/${encodeURIComponent(runId)}`;
}
