import { Injectable } from '@nestjs/common';
import { type Dispatcher, request as undiciRequest } from 'undici';
import { AppConfig } from '../config/app-config.js';
import { isLoopbackHost } from '../config/loopback.js';
import { AddressGuard } from './address-guard.js';
import { cachedAnswers } from './cached-answers.js';
import { guardedAgent } from './guarded-agent.js';
import { CallLimits, type OutboundInit } from './call-limits.js';
import { OutboundRefusedError } from './outbound-errors.js';
import { type OutboundRequest, toOutboundRequest } from './outbound-request.js';
import { toResponse } from './outbound-response.js';

export type OutboundFetch = (input: string | URL | Request, init?: OutboundInit) => Promise<Response>;

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
const MAX_CACHED_BODY = 2 * 1024 ** 2;

/**
 * The one door for HTTP calls to other machines. Addresses are checked when the connection is made (`AddressGuard`).
 * GET and HEAD follow at most three redirects, each checked again; any other method gets the redirect as its answer.
 *
 * Errors: `OutboundRefusedError`, `OutboundConnectError`, `OutboundTimeoutError`, `OutboundInterruptedError`; an
 * abort rejects with the signal's reason. The answer's status is never an error.
 */
@Injectable()
export class OutboundHttp {
  private readonly guard: AddressGuard;
  private readonly open: Dispatcher[] = [];
  private readonly plain: Dispatcher;
  private readonly caching: Dispatcher;

  constructor(private readonly config: AppConfig) {
    this.guard = this.newGuard();
    if (config.internalUrl) this.guard.allowOrigin(config.internalUrl);
    this.plain = this.agent(this.guard);
    this.caching = this.agent(this.guard, MAX_CACHED_BODY).compose(cachedAnswers());
  }

  /** Has the signature and meaning of the global `fetch`, at a fraction of its CPU time. */
  readonly fetch: OutboundFetch = (input, init) => this.exchange(this.plain, input, init);

  /** `fetch` with an HTTP cache (RFC 9111): fresh answers come from memory, stale ones are revalidated. Bodies to 2 MiB. */
  readonly cachedFetch: OutboundFetch = (input, init) => this.exchange(this.caching, input, init);

  /** A `fetch` that may also reach one address that the operator configured, such as a model endpoint, though private. */
  trusting(url: string): OutboundFetch {
    const guard = this.newGuard();
    guard.allowOrigin(url);
    const agent = this.agent(guard);
    return (input, init) => this.exchange(agent, input, init);
  }

  /** Lets every caller reach this service itself, once its address is known. */
  allowSelf(url: string): void {
    this.guard.allowOrigin(url);
  }

  /** Ends idle connections and cuts those in use. */
  async close(): Promise<void> {
    await Promise.all(this.open.map((agent) => agent.destroy()));
  }

  private newGuard(): AddressGuard {
    return new AddressGuard({ allow: this.config.outboundAllow, loopback: isLoopbackHost(this.config.host) });
  }

  private agent(guard: AddressGuard, maxResponseSize?: number): Dispatcher {
    const agent = guardedAgent(guard, { connectTimeoutMs: CONNECT_TIMEOUT_MS, maxResponseSize });
    this.open.push(agent);
    return agent;
  }

  private async exchange(agent: Dispatcher, input: string | URL | Request, init: OutboundInit = {}): Promise<Response> {
    let current = await toOutboundRequest(input, init);
    for (let redirects = 0; ; redirects += 1) {
      const limits = new CallLimits(current.signal, init);
      const answer = await send(agent, current, limits);
      const target = redirectTarget(current, answer);
      if (target === undefined || current.redirect === 'manual') {
        return toResponse(answer, { url: current.url, redirected: redirects > 0, limits });
      }
      answer.body.resume();
      if (current.redirect === 'error')
        throw new OutboundRefusedError('The call was redirected, which its caller forbids');
      if (redirects === MAX_REDIRECTS)
        throw new OutboundRefusedError(`The call was redirected more than ${MAX_REDIRECTS} times`);
      current = redirected(current, target);
    }
  }
}

async function send(agent: Dispatcher, call: OutboundRequest, limits: CallLimits): Promise<Dispatcher.ResponseData> {
  if (call.url.protocol !== 'http:' && call.url.protocol !== 'https:') {
    throw new OutboundRefusedError(`Calls over ${call.url.protocol} are not allowed`);
  }
  try {
    return await undiciRequest(call.url, {
      dispatcher: agent,
      method: call.method,
      headers: call.headers,
      body: call.body,
      signal: limits.signal,
      headersTimeout: limits.firstByteMs,
      bodyTimeout: limits.idleMs,
    });
  } catch (error) {
    throw limits.failure(error);
  }
}

/** Only GET and HEAD are repeated elsewhere: anything else might be done twice. */
function redirectTarget(call: OutboundRequest, answer: Dispatcher.ResponseData): URL | undefined {
  const location = answer.headers['location'];
  if (![301, 302, 303, 307, 308].includes(answer.statusCode) || typeof location !== 'string') return undefined;
  if (call.method !== 'GET' && call.method !== 'HEAD') return undefined;
  return URL.canParse(location, call.url.href) ? new URL(location, call.url) : undefined;
}

/** Credentials stay with the origin that they were meant for. */
function redirected(call: OutboundRequest, target: URL): OutboundRequest {
  if (target.origin === call.url.origin) return { ...call, url: target };
  const headers = Object.fromEntries(
    Object.entries(call.headers).filter(([name]) => !['authorization', 'cookie', 'x-api-key', 'host'].includes(name)),
  );
  return { ...call, url: target, headers };
}
