import { Global, Injectable, Module, Optional } from '@nestjs/common';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { AppConfig, isLoopbackHost, Metrics } from '#libs/service';
import { callGrpc, type GrpcRequester } from './grpc-client.js';
import {
  AddressGuard,
  bareHost,
  defaultPort,
  guardedAgent,
  renewedConnections,
  StandstillWatch,
} from './guarded-agent.js';
import {
  CachedAnswers,
  MAX_CACHED_BODY,
  type OutboundAnswer,
  type OutboundCall,
  OutboundDeadlines,
  type OutboundInit,
  type OutboundTimes,
  type SendGate,
} from './outbound-call.js';
import { type OutboundRefusal, OutboundRefusedError } from './outbound-errors.js';
import { ReceivedAnswer, toResponse } from './received-answer.js';
import { SharedConnections } from './shared-connections.js';

/** HTTP call in the form of undici's `request`. Header names are in lower case. */
interface OutboundRequest {
  url: URL;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  body?: string | Uint8Array | Readable;
  signal?: AbortSignal;
  redirect: Request['redirect'];
  gate?: SendGate | undefined;
}

/** Converts the arguments of a `fetch` to a call; a URL, a plain object and a text body need no Request object. */
export async function toOutboundRequest(input: string | URL | Request, init: RequestInit): Promise<OutboundRequest> {
  if (input instanceof Request || !isSimpleBody(init.body))
    return fromRequest(new Request(input, withDuplex(init)), init);
  const headers = headersOf(init.headers);
  const body = init.body ?? undefined;
  if (body instanceof URLSearchParams) headers['content-type'] ??= 'application/x-www-form-urlencoded;charset=UTF-8';
  else if (typeof body === 'string') headers['content-type'] ??= 'text/plain;charset=UTF-8';
  return {
    url: new URL(input),
    method: (init.method ?? 'GET').toUpperCase(),
    headers,
    // undici accepts generators, but its types do not.
    body: body instanceof URLSearchParams ? body.toString() : (body as OutboundRequest['body']),
    signal: init.signal ?? undefined,
    redirect: init.redirect ?? 'follow',
  };
}

function isSimpleBody(
  body: RequestInit['body'],
): body is string | Uint8Array<ArrayBuffer> | URLSearchParams | AsyncGenerator<Uint8Array> | null | undefined {
  return (
    body === null ||
    body === undefined ||
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof URLSearchParams ||
    isGenerator(body)
  );
}

/**
 * True if a body is a generator, which is passed on unchanged: a generator learns that a chunk has been sent when its
 * next chunk is requested.
 */
function isGenerator(body: NonNullable<RequestInit['body']>): body is AsyncGenerator<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body && !(body instanceof ReadableStream);
}

/** Adds `duplex`, which `fetch` requires for stream bodies, and which older callers omit. */
function withDuplex(init: RequestInit): RequestInit {
  return init.body instanceof ReadableStream ? { duplex: 'half', ...init } : init;
}

async function fromRequest(request: Request, init: RequestInit): Promise<OutboundRequest> {
  const stream = init.body instanceof ReadableStream;
  const body = request.body === null ? undefined : stream ? streamOf(request.body) : await request.bytes();
  return {
    url: new URL(request.url),
    method: request.method,
    headers: headersOf(request.headers),
    body,
    signal: request.signal,
    redirect: request.redirect,
  };
}

/**
 * Converts a body to a Readable that always has a listener for errors. undici listens only during the request; an
 * error of the body after that would end the process.
 */
function streamOf(body: NonNullable<Request['body']>): Readable {
  return Readable.fromWeb(body).on('error', () => undefined);
}

function headersOf(given: RequestInit['headers']): Record<string, string> {
  const headers: Record<string, string> = {};
  if (given === undefined) return headers;
  const entries = given instanceof Headers || Array.isArray(given) ? given : Object.entries(given);
  for (const [name, value] of entries as Iterable<[string, string]>) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return headers;
}

export type OutboundFetch = (input: string | URL | Request, init?: OutboundInit) => Promise<Response>;
export type OutboundRequester = (call: OutboundCall) => Promise<OutboundAnswer>;

interface OutboundExchange {
  answer: ReceivedAnswer;
  url: URL;
  redirected: boolean;
}

/** Client for HTTP and gRPC calls. Its functions check all addresses, and fail with the errors of OutboundHttp. */
export interface OutboundClient {
  readonly fetch: OutboundFetch;
  readonly cachedFetch: OutboundFetch;
  readonly request: OutboundRequester;
  readonly cachedRequest: OutboundRequester;
  readonly freshUntil: (url: URL, headers: Record<string, string>) => number;
  readonly requestGrpc: GrpcRequester;
}

/** Connections of one AddressGuard: dispatchers without and with the HTTP cache, and HTTP/2. */
interface Connections {
  plain: Dispatcher;
  caching: Dispatcher;
  http2: SharedConnections;
}

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The only client for HTTP calls to other machines.
 *
 * - Addresses are checked when the connection is made (`AddressGuard`).
 * - GET and HEAD follow at most three redirects, each checked; other methods return the redirect as the answer.
 * - Errors: `OutboundRefusedError`, `OutboundConnectError`, `OutboundTimeoutError`, `OutboundInterruptedError`; an
 *   abort rejects with the signal's reason. An HTTP status is never an error.
 */
@Injectable()
export class OutboundHttp implements OutboundClient {
  private readonly guard: AddressGuard;
  private readonly ownGuard: AddressGuard;
  private readonly open = new Set<Agent>();
  private readonly standstills = new StandstillWatch();
  private readonly others: Connections;
  private readonly own: Connections;
  private readonly cached = new CachedAnswers();
  private readonly refused: (reason: OutboundRefusal) => void;
  private readonly took: (seconds: number) => void;

  constructor(
    private readonly config: AppConfig,
    @Optional() metrics?: Metrics,
  ) {
    const refusals = metrics?.counter(
      'parley_outbound_refused_total',
      'Calls to other machines that were refused here, by what was wrong: address, redirect, scheme or userinfo',
      ['reason'],
    );
    const durations = metrics?.histogram(
      'parley_outbound_duration_seconds',
      'Calls to other machines, from the call to the head of its answer, or to its failure; GETs through the cache are left out',
    );
    this.took = (seconds) => durations?.observe(seconds);
    this.refused = (reason) => refusals?.inc({ reason });
    this.guard = this.newGuard();
    this.ownGuard = this.newGuard();
    for (const url of [config.internalUrl, config.publicUrl]) if (url !== undefined) this.ownGuard.allowOrigin(url);
    this.others = this.createConnections(this.guard);
    this.own = this.createConnections(this.ownGuard);
  }

  /** Equivalent of the global `fetch`, at a fraction of its CPU time. */
  readonly fetch: OutboundFetch = (input, init) => this.timeCall(fetchOver(this.others.plain, input, init));

  /**
   * Equivalent of `fetch` with an HTTP cache (RFC 9111): fresh answers come from memory, stale answers are
   * revalidated. A body of more than 2 MiB is an error (OutboundTooLongError).
   */
  readonly cachedFetch: OutboundFetch = (input, init) =>
    this.countRefusals(fetchOver(this.others.caching, input, init));

  /** Makes a call as `fetch` does, without creating objects of the Fetch API, for callers with thousands of calls. */
  readonly request: OutboundRequester = (call) => this.timeCall(requestOver(this.others.plain, call));

  /** Equivalent of `request` with the HTTP cache of `cachedFetch`, and its limit of 2 MiB. */
  readonly cachedRequest: OutboundRequester = (call) => this.countRefusals(requestOver(this.others.caching, call));

  /**
   * Returns the time, in milliseconds since 1970, until which the cache alone answers a GET with these headers (names
   * in lower case); 0 if a request is needed.
   */
  readonly freshUntil = (url: URL, headers: Record<string, string>): number => this.cached.freshUntil(url, headers);

  /** Makes a gRPC call, if AddressGuard permits the address. No proxy is used, and no redirect is followed. */
  readonly requestGrpc: GrpcRequester = (call) => this.countGrpc(callGrpc(this.others.http2, call));

  /**
   * Returns a `fetch` that may also call the host and port of one URL that the operator configured, such as a model
   * endpoint, even at a private address.
   */
  trustingFetch(url: string): OutboundFetch {
    const guard = this.newGuard();
    guard.allowOrigin(url);
    const agent = this.createDispatcher(guard);
    return (input, init) => this.timeCall(fetchOver(agent, input, init));
  }

  /**
   * Returns a client that may also call this service itself, at URLs for which `isOwn` is true, although its address
   * is private. Pass a caller's URL to this client only if it names an agent, a file or the like of this service.
   */
  reachingSelf(isOwn: (url: string) => boolean): OutboundClient {
    const connectionsTo = (url: string): Connections => (isOwn(url) ? this.own : this.others);
    const hrefOf = (input: string | URL | Request): string =>
      new URL(input instanceof Request ? input.url : input).href;
    return {
      fetch: (input, init) => this.timeCall(fetchOver(connectionsTo(hrefOf(input)).plain, input, init)),
      cachedFetch: (input, init) => this.countRefusals(fetchOver(connectionsTo(hrefOf(input)).caching, input, init)),
      request: (call) => this.timeCall(requestOver(connectionsTo(call.url.href).plain, call)),
      cachedRequest: (call) => this.countRefusals(requestOver(connectionsTo(call.url.href).caching, call)),
      freshUntil: this.freshUntil,
      requestGrpc: (call) => this.countGrpc(callGrpc(connectionsTo(call.url.href).http2, call)),
    };
  }

  /**
   * True if a call to this URL may be permitted, as far as that is known before the DNS lookup. False only if the
   * host is an IP address that is refused, in any notation, or `localhost`.
   */
  mayPermit(url: URL): boolean {
    const host = bareHost(url.hostname);
    const local = host === 'localhost' || host.endsWith('.localhost');
    if (!local && isIP(host) === 0) return true;
    return this.guard.permitsAddress(host, Number(url.port || defaultPort(url.protocol)), local ? '127.0.0.1' : host);
  }

  /** Permits clients of `reachingSelf` to call this service at a URL. Called once that URL is known. */
  allowSelf(url: string): void {
    this.ownGuard.allowOrigin(url);
  }

  /** Closes idle connections and aborts active ones. */
  async close(): Promise<void> {
    this.standstills.stop();
    for (const { http2 } of [this.others, this.own]) http2.close();
    await Promise.all([...this.open].map((agent) => agent.destroy()));
  }

  private timeCall<T>(outcome: Promise<T>): Promise<T> {
    const begun = performance.now();
    const reportDuration = (): void => this.took((performance.now() - begun) / 1000);
    outcome.then(reportDuration, (error: unknown) => {
      if (error instanceof OutboundRefusedError) this.refused(error.refusal);
      else reportDuration();
    });
    return outcome;
  }

  private countRefusals<T>(outcome: Promise<T>): Promise<T> {
    outcome.catch((error: unknown) => {
      if (error instanceof OutboundRefusedError) this.refused(error.refusal);
    });
    return outcome;
  }

  /** Counts refusals, and the time until the first message of an answer, or until its failure. */
  private async *countGrpc(messages: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const begun = performance.now();
    let took: ((seconds: number) => void) | undefined = this.took;
    const reportDuration = (): void => {
      took?.((performance.now() - begun) / 1000);
      took = undefined;
    };
    try {
      for await (const message of messages) {
        reportDuration();
        yield message;
      }
    } catch (error) {
      if (error instanceof OutboundRefusedError) this.refused(error.refusal);
      else reportDuration();
      throw error;
    }
  }

  /**
   * Creates an AddressGuard. It permits loopback addresses only without authentication: the service then listens only
   * on this machine, so every caller is on it. With authentication, callers may come from anywhere, through a local
   * proxy, and must not reach the loopback addresses of this machine.
   */
  private newGuard(): AddressGuard {
    const { host, auth, outboundAllow: allow } = this.config;
    return new AddressGuard({ allow, loopback: auth.mode === 'none' && isLoopbackHost(host) });
  }

  private createConnections(guard: AddressGuard): Connections {
    return {
      plain: this.createDispatcher(guard),
      caching: this.createDispatcher(guard, MAX_CACHED_BODY).compose(this.cached.layer),
      http2: new SharedConnections(guard, this.standstills),
    };
  }

  private createDispatcher(guard: AddressGuard, maxResponseSize?: number): Dispatcher {
    const makeAgent = (): Agent => guardedAgent(guard, { connectTimeoutMs: CONNECT_TIMEOUT_MS, maxResponseSize });
    return renewedConnections(this.standstills, this.open, makeAgent);
  }
}

async function fetchOver(agent: Dispatcher, input: string | URL | Request, init: OutboundInit = {}): Promise<Response> {
  const request = await toOutboundRequest(input, init);
  const { answer, ...context } = await exchangeCall(agent, { ...request, gate: init.gate }, init);
  return toResponse(answer, context);
}

async function requestOver(agent: Dispatcher, call: OutboundCall): Promise<OutboundAnswer> {
  return (await exchangeCall(agent, { ...call, redirect: call.redirect ?? 'follow' }, call)).answer;
}

async function exchangeCall(agent: Dispatcher, call: OutboundRequest, times: OutboundTimes): Promise<OutboundExchange> {
  let current = call;
  const total = OutboundDeadlines.totalSignal(times);
  for (let redirects = 0; ; redirects += 1) {
    const limits = new OutboundDeadlines(current.signal, times, total);
    const answer = await dispatchCall(agent, current, limits);
    const target = redirectTarget(current, answer);
    if (target === undefined || current.redirect === 'manual')
      return { answer, url: current.url, redirected: redirects > 0 };
    answer.drainUnread();
    if (current.redirect === 'error')
      throw new OutboundRefusedError('The call was redirected, which its caller forbids', 'redirect');
    if (redirects === MAX_REDIRECTS)
      throw new OutboundRefusedError(`The call was redirected more than ${MAX_REDIRECTS} times`, 'redirect');
    current = redirectedCall(current, target);
  }
}

function dispatchCall(agent: Dispatcher, call: OutboundRequest, limits: OutboundDeadlines): Promise<ReceivedAnswer> {
  const { url } = call;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundRefusedError(`Calls over ${url.protocol} are not allowed`, 'scheme');
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundRefusedError('Calls of URLs with a user name or password are not allowed', 'userinfo');
  }
  const answer = new ReceivedAnswer(limits, call.gate);
  const request = {
    origin: url.origin,
    path: url.pathname + url.search,
    method: call.method,
    headers: call.headers,
    body: call.body,
    headersTimeout: limits.firstByteMs,
    bodyTimeout: limits.idleMs,
  };
  agent.dispatch(request, answer);
  return answer.head;
}

/** Returns the URL of a redirect that is followed, else `undefined`: only GET and HEAD can be repeated safely. */
function redirectTarget(call: OutboundRequest, answer: ReceivedAnswer): URL | undefined {
  if (!REDIRECTS.has(answer.status)) return undefined;
  const location = answer.headers['location'];
  if (typeof location !== 'string') return undefined;
  if (call.method !== 'GET' && call.method !== 'HEAD') return undefined;
  return URL.canParse(location, call.url.href) ? new URL(location, call.url) : undefined;
}

/** Returns the call to the target of a redirect, without credentials if its origin differs. */
function redirectedCall(call: OutboundRequest, target: URL): OutboundRequest {
  if (target.origin === call.url.origin) return { ...call, url: target };
  const headers = Object.fromEntries(
    Object.entries(call.headers).filter(([name]) => !['authorization', 'cookie', 'x-api-key', 'host'].includes(name)),
  );
  return { ...call, url: target, headers };
}

/** The only HTTP client for calls to other machines. Needs ServiceModule. */
@Global()
@Module({ providers: [OutboundHttp], exports: [OutboundHttp] })
export class OutboundModule {}
