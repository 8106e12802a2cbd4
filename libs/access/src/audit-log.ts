import { Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { textStart } from '#libs/protocol';
import { type FactPayloads, Metrics, OnFact } from '#libs/service';
import { callerOf } from './caller.js';

/** Line of the audit log. A line never contains a body, a query or a header of the request. */
interface AuditEntry {
  /** Method and pattern of the route: `DELETE /api/keys/:id`. */
  action: string;
  tenant: string;
  /** Name of the caller; `''` for an unknown caller. */
  caller: string;
  /** Names and ids in the path, by the names of the path's parameters. */
  target: Record<string, string>;
  outcome: 'done' | 'denied' | 'refused' | 'failed';
  status: number;
  /** Numbers and ids of what a call changed, if the call reports them (`setAuditDetail`). */
  detail?: AuditDetail;
}

/** Numbers and ids of what one call changed. The caller of `setAuditDetail` limits the number of ids. */
export interface AuditDetail {
  dryRun: boolean;
  /** Number of objects by outcome. */
  counts: Readonly<Record<string, number>>;
  /** Ids of the objects that were changed. */
  ids: readonly string[];
}

/** Key of the detail on the request object. */
const DETAIL = Symbol('audit detail');

interface DetailedRequest extends IncomingMessage {
  [DETAIL]?: AuditDetail;
}

/** Adds a detail to the line that the audit log will have for a request. */
export function setAuditDetail(request: IncomingMessage, detail: AuditDetail): void {
  (request as DetailedRequest)[DETAIL] = detail;
}

const logger = new Logger('Audit');

/**
 * Logs each call of `/api` that changes something, and each denied call, when it is answered: one line `{"audit":
 * AuditEntry}` at level info. The start of a run is not logged, since the run's Task records it. Call this function
 * before routes are registered.
 */
export function auditCalls(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    // A hook on every response would cost A2A calls time as well.
    if (route.url.startsWith('/api/')) route.onResponse = [route.onResponse ?? [], auditCall].flat();
  });
}

function auditCall(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { statusCode } = reply;
  const route = request.routeOptions.url ?? '';
  const changes = !READING.has(request.method) && !RUN_START.test(route);
  if (changes || isDenied(statusCode)) {
    logger.log({ audit: entryOf(request, route, statusCode) }, 'A management call');
  }
  done();
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
const RUN_START = /^\/api\/workflows\/:name\/runs?$/;

function entryOf(request: FastifyRequest, route: string, status: number): AuditEntry {
  const { tenant, owner } = callerOf(request.raw);
  const detail = (request.raw as DetailedRequest)[DETAIL];
  const target = Object.entries((request.params ?? {}) as Record<string, string>);
  return {
    action: `${request.method} ${route}`,
    tenant,
    caller: owner,
    target: Object.fromEntries(target.map(([name, value]) => [name, textStart(value, 128)])),
    outcome: outcomeOf(status),
    status,
    ...(detail && { detail }),
  };
}

function outcomeOf(status: number): AuditEntry['outcome'] {
  if (isDenied(status)) return 'denied';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'done';
}

function isDenied(status: number): boolean {
  return status === 401 || status === 403;
}

/** Reports revoked and rotated API keys to operators: a line of the audit log and a count. */
@Injectable()
export class RevokedKeys {
  private readonly logger = new Logger('Audit');
  private readonly revoked;

  constructor(metrics: Metrics) {
    this.revoked = metrics.counter(
      'parley_keys_revoked_total',
      'API keys that were revoked or replaced at this replica',
    );
  }

  @OnFact('key.revoked')
  countRevocation(): void {
    this.revoked.inc();
  }

  @OnFact('key.revoked')
  logRevocation(key: FactPayloads['key.revoked']): void {
    this.logger.log({ key }, 'A key was revoked');
  }
}
