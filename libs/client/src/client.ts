import type { components } from './openapi.js';
import { ParleyError } from './parley-error.js';
import type { RunEvent } from './run-event.js';
import { RunFollower } from './run-follower.js';
import { ServiceCalls, type ServiceOptions, type ServiceRequest } from './service-calls.js';

/** Types of the management API's requests and answers, by their names in OpenAPI. */
export type Schemas = components['schemas'];
type FetchedRun = Schemas['RunDetail'];

export type ClientOptions = ServiceOptions;

/** Options of one request. */
interface RequestOptions {
  signal?: AbortSignal | undefined;
}

interface KeyOptions extends RequestOptions {
  /**
   * Idempotency key of the request. Requests with the same key and body start a single run. Default: a new key per
   * call.
   */
  idempotencyKey?: string | undefined;
}

interface EventsOptions extends RequestOptions {
  /** `sequence` of the last event that the caller has; later events follow. Default 0: all events. */
  since?: number;
  /** `false` ends the stream after the events that exist by now. Default true. */
  live?: boolean;
  /** Called with true when a connection opens, and with false when it ends before the run does. */
  onConnection?: (isOpen: boolean) => void;
}

export interface AnswerOptions {
  /** Id of the node that asks, or the name of its instance. */
  node: string;
  /** Answer as A2A Parts. */
  parts: readonly Record<string, unknown>[];
}

/** Filter and paging options of a list of runs. */
interface RunFilter {
  workflow?: string;
  /** A status, or several with commas between. */
  status?: string;
  /** Filter: text that occurs in the workflow's name, or with which the run's id begins. */
  q?: string;
  /** Filter: text that occurs in the inputs, the error, the workflow's name or the run's id. */
  search?: string;
  since?: string;
  until?: string;
  /** Id of a cause in the overview. */
  cause?: string;
  pageSize?: number;
  pageToken?: string;
}

/** Paging options of a list of questions. */
interface InboxPageRequest {
  pageSize?: number;
  pageToken?: string;
}

/** Inputs and results of one workflow, as `parley types` writes them. */
export interface WorkflowTypes {
  inputs: object;
  outputs: object;
}

/** Type of a service's workflows if `parley types` has not generated their types. */
export type AnyWorkflows = Record<string, { inputs: Record<string, unknown>; outputs: Record<string, unknown> }>;

/**
 * Client of one service, for every JavaScript runtime with `fetch`. `W` has the types of the service's workflows, from
 * `parley types`.
 * - A request that may be repeated is retried while the service is away or overloaded; a retry starts no second run.
 * - Every method throws ParleyError if the service refuses, and ParleyUnreachable if it does not answer.
 */
export interface ParleyClient<W extends Record<keyof W, WorkflowTypes> = AnyWorkflows> {
  /** Starts a run of a workflow. The run continues if the client disconnects. */
  run<N extends keyof W & string>(
    workflow: N,
    inputs?: W[N]['inputs'],
    options?: KeyOptions,
  ): Promise<{ runId: string }>;
  /**
   * Yields the events of a run, each once and in order, until the run has ended. It starts at the first event, or after
   * `since`. A lost connection is resumed after the last event.
   */
  events(runId: string, options?: EventsOptions): AsyncGenerator<RunEvent, void, void>;
  /** Waits until a run has ended, and returns it. */
  wait(runId: string, options?: RequestOptions): Promise<FetchedRun>;
  get(runId: string, options?: RequestOptions): Promise<FetchedRun>;
  list(filter?: RunFilter, options?: RequestOptions): Promise<Schemas['RunPage']>;
  /** Answers a question of a run, which then continues. */
  answer(runId: string, answer: AnswerOptions, options?: RequestOptions): Promise<void>;
  cancel(runId: string, options?: RequestOptions): Promise<Schemas['CanceledRun']>;
  /** Starts a new run that reuses results of the ended run `runId`. */
  rerun(runId: string, body?: Schemas['RerunBody'], options?: KeyOptions): Promise<Schemas['StartedRerun']>;
  /** Lists the open questions of runs. */
  inbox(page?: InboxPageRequest, options?: RequestOptions): Promise<Schemas['InboxPage']>;
  /** Saves the workflows and other objects of the body: all objects, or none. */
  apply(body: Schemas['ApplyBody'], options?: RequestOptions): Promise<Schemas['AppliedView']>;
  /** Calls any other operation of the management API by its path; the answer is JSON. */
  call<T>(path: `/${string}`, request?: ServiceRequest): Promise<T>;
  /** Calls an operation of the management API whose answer is a text, such as `/api/runs.csv`; yields it as it comes. */
  streamText(path: `/${string}`, request?: ServiceRequest): AsyncIterable<string>;
}

/**
 * Creates a client.
 * @param options URL of the service, and a key if the service requires one
 * @throws ParleyError with the reason `MALFORMED` for an invalid URL, or a key that no header can carry
 */
export function createClient<W extends Record<keyof W, WorkflowTypes> = AnyWorkflows>(
  options: ClientOptions,
): ParleyClient<W> {
  return new HttpClient(new ServiceCalls(options)) as ParleyClient<W>;
}

class HttpClient implements ParleyClient {
  readonly #calls: ServiceCalls;

  constructor(calls: ServiceCalls) {
    this.#calls = calls;
  }

  run(workflow: string, inputs: object = {}, options: KeyOptions = {}): Promise<{ runId: string }> {
    return this.#calls.requestJson(
      `/api/workflows/${encodeURIComponent(workflow)}/runs`,
      keyedRequest({ inputs }, options),
    );
  }

  events(
    runId: string,
    { since = 0, live = true, ...options }: EventsOptions = {},
  ): AsyncGenerator<RunEvent, void, void> {
    const follower = new RunFollower(this.#calls, runPath(runId));
    const events = live ? follower.followEvents(since, options) : follower.readKnown(since, options.signal);
    return events as AsyncGenerator<RunEvent, void, void>;
  }

  async wait(runId: string, options: RequestOptions = {}): Promise<FetchedRun> {
    for (;;) {
      const run = await this.get(runId, options);
      if (run.status === 'completed' || run.status === 'failed' || run.status === 'canceled') return run;
      for await (const event of this.events(runId, options)) if (event.type === 'done') break;
    }
  }

  get(runId: string, { signal }: RequestOptions = {}): Promise<FetchedRun> {
    return this.#calls.requestJson(runPath(runId), { signal });
  }

  list(filter: RunFilter = {}, { signal }: RequestOptions = {}): Promise<Schemas['RunPage']> {
    return this.#calls.requestJson('/api/runs', { query: { ...filter }, signal });
  }

  async answer(runId: string, answer: AnswerOptions, { signal }: RequestOptions = {}): Promise<void> {
    await this.#calls.requestJson(`${runPath(runId)}/answers`, { method: 'POST', body: answer, signal });
  }

  /** Cancels a run. The request is retried if its answer was lost: the cancel of a canceled run has the same answer. */
  async cancel(runId: string, { signal }: RequestOptions = {}): Promise<Schemas['CanceledRun']> {
    return this.#calls.requestJson(`${runPath(runId)}/cancel`, { method: 'POST', repeatable: true, signal });
  }

  rerun(runId: string, body: Schemas['RerunBody'] = {}, options: KeyOptions = {}): Promise<Schemas['StartedRerun']> {
    return this.#calls.requestJson(`${runPath(runId)}/rerun`, keyedRequest(body, options));
  }

  inbox(page: InboxPageRequest = {}, { signal }: RequestOptions = {}): Promise<Schemas['InboxPage']> {
    return this.#calls.requestJson('/api/inbox', { query: { ...page }, signal });
  }

  apply(body: Schemas['ApplyBody'], { signal }: RequestOptions = {}): Promise<Schemas['AppliedView']> {
    return this.#calls.requestJson('/api/apply', { method: 'POST', body, signal });
  }

  call<T>(target: `/${string}`, request: ServiceRequest = {}): Promise<T> {
    return this.#calls.requestJson(target, request);
  }

  streamText(target: `/${string}`, request: ServiceRequest = {}): AsyncIterable<string> {
    return this.#calls.streamText(target, request);
  }
}

function keyedRequest(body: unknown, { idempotencyKey = crypto.randomUUID(), signal }: KeyOptions): ServiceRequest {
  return { method: 'POST', body, headers: { 'idempotency-key': idempotencyKey }, signal };
}

function runPath(runId: string): `/${string}` {
  if (runId === '') throw new ParleyError({ status: 0, reason: 'MALFORMED', message: 'the id of the run is empty' });
  return `/api/runs/${encodeURIComponent(runId)}`;
}
