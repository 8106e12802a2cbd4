import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { callerOf, scopeOf } from '#libs/access';
import { type AgentCatalog, type CallContext, type ServedAgent, UnknownAgent } from '#libs/agents';
import { readIdempotencyKey, REVISION_CLAIM } from '#libs/executor';
import type { ServiceAddress } from '#libs/http-server';
import { A2AError, isJsonObject, textStart } from '#libs/protocol';
import { inboundTrace } from '#libs/service';
import { activeExtensions } from '../extensions.js';

/**
 * Kind of base URL under `/a2a`: the service, conversations, a registered agent, a workflow, a node, or the alias of a
 * node.
 */
export type AgentBase = 'service' | 'conversations' | 'agent' | 'workflow' | 'node' | 'alias';

/** Route of each kind of base URL below `/a2a`, in the syntax of find-my-way. */
export const BASE_ROUTES: Readonly<Record<AgentBase, string>> = {
  service: '',
  conversations: '/conversations',
  agent: '/agents/:agent',
  workflow: '/workflows/:workflow',
  node: '/workflows/:workflow/nodes/:node',
  alias: '/nodes/:node',
};

export const AGENT_BASES = Object.keys(BASE_ROUTES) as AgentBase[];

/** Path of an agent's card, below its base URL (section 8.2). */
export const A2A_CARD_PATH = '/.well-known/agent-card.json';

/** Parameters that the router found in the path, decoded. */
export interface BaseParams {
  agent?: string;
  workflow?: string;
  node?: string;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
/** Pattern of node names. A node of a nested workflow has the name of its outer node as a prefix. */
const NODE_NAME = /^(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\.){0,12}[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns the path of the agent that a request addresses.
 * @throws UnknownAgent for an invalid segment, so that the segment cannot be mistaken for a deeper path
 */
export function agentPath(base: AgentBase, params: BaseParams): string {
  switch (base) {
    case 'service':
      return '';
    case 'conversations':
      return 'conversations';
    case 'agent':
      return `agents/${requireName(params.agent, 'agent')}`;
    case 'workflow':
      return `workflows/${requireName(params.workflow, 'workflow')}`;
    case 'node':
      return `workflows/${requireName(params.workflow, 'workflow')}/nodes/${requireName(params.node, 'node', NODE_NAME)}`;
    case 'alias':
      return `nodes/${requireName(params.node, 'node')}`;
  }
}

/** True for the path of a registered agent. */
export function isRegisteredAgent(path: string): boolean {
  return path.startsWith('agents/');
}

/** Returns the URL of an agent, without a trailing slash. */
export function agentUrl(baseUrl: string, path: string): string {
  return path === '' ? `${baseUrl}/a2a` : `${baseUrl}/a2a/${path}`;
}

function requireName(segment: string | undefined, kind: 'agent' | 'workflow' | 'node', looks = NAME): string {
  if (segment !== undefined && looks.test(segment)) return segment;
  const shown = textStart(segment ?? '', 64);
  if (kind === 'node') throw new UnknownAgent(`node "${shown}" not registered`, 'NODE_NOT_FOUND', { node: shown });
  throw new UnknownAgent(`${kind} "${shown}" not found`, 'AGENT_NOT_FOUND', { [kind]: shown });
}

/** Protocol versions that this server supports. */
const SUPPORTED_VERSIONS = ['1.0', '0.3'] as const;

const VERSION = /^(\d+)\.(\d+)(?:\.\d+)?$/;
const LEGACY_VERSION = /^(0\.3(\.\d+)?)?$/;

/**
 * Returns the requested protocol version: the `A2A-Version` header, else the query parameter of that name, else `''`
 * (section 3.6.1).
 */
export function requestedVersion(request: FastifyRequest): string {
  const header = request.headers['a2a-version'];
  const named = typeof header === 'string' && header.trim() !== '' ? header : queryVersion(request.query);
  return named.trim();
}

/** True for protocol version 1.0. Only the major and minor numbers count. */
export function isCurrentVersion(version: string): boolean {
  if (version === '1.0') return true;
  const match = VERSION.exec(version);
  return match !== null && match[1] === '1' && match[2] === '0';
}

/** True for protocol version 0.3, and for `''`, which means 0.3 (section 3.6.2). */
export function isLegacyVersion(version: string): boolean {
  return LEGACY_VERSION.test(version);
}

/**
 * Rejects a protocol version other than 1.0, for an operation of A2A 1.0.
 * @throws A2AError VERSION_NOT_SUPPORTED
 */
export function requireSupportedVersion(version: string): void {
  if (isCurrentVersion(version)) return;
  const named = version === '' ? '0.3' : textStart(version, 32);
  throw new A2AError('VERSION_NOT_SUPPORTED', {
    message: isLegacyVersion(version)
      ? `This operation belongs to A2A 1.0, but the request uses ${named}; send A2A-Version: 1.0`
      : `A2A protocol version ${named} is not supported; send A2A-Version: ${SUPPORTED_VERSIONS.join(' or ')}`,
    metadata: { requestedVersion: named, supportedVersions: SUPPORTED_VERSIONS.join(',') },
  });
}

function queryVersion(query: unknown): string {
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (name.toLowerCase() === 'a2a-version' && typeof value === 'string') return value;
  }
  return '';
}

/** Address of this service: where callers reach it, as PUBLIC_URL or the request says, without a trailing slash. */
export type PublicAddress = Pick<ServiceAddress, 'publicBaseUrl'> &
  Partial<Pick<ServiceAddress, 'publicGrpcTarget' | 'variesBy'>>;

/** Configuration of an A2A route, in `request.routeOptions.config`. */
export interface A2aRouteConfig {
  a2a?: { base: AgentBase; binding: 'json-rpc' | 'rest' };
}

/**
 * Reads the context of a call from a request: the caller, the addressed agent, and the protocol's headers.
 * @throws UnknownAgent if the path cannot be the path of an agent
 */
export function callContext(
  base: AgentBase,
  request: FastifyRequest,
  { raw }: FastifyReply,
  address: PublicAddress,
): CallContext {
  return {
    scope: scopeOf(request.raw),
    agent: agentPath(base, request.params as BaseParams),
    extensions: activatedExtensions(request.headers['a2a-extensions']),
    baseUrl: address.publicBaseUrl(request.raw),
    whenAnswered: (done) => !raw.closed && raw.once('close', done) === raw,
    ...readIdempotency(request.headers['idempotency-key']),
    ...readTrace(request.headers),
    ...revisionClaim(request.headers[REVISION_CLAIM]),
    ...((base === 'agent' || base === 'service') && inboundCall(callerOf(request.raw), request.headers)),
  };
}

/** Returns the member `inbound` of a call: scopes of the caller and headers of the request, for registered agents. */
export function inboundCall(
  { permissions }: Pick<ReturnType<typeof callerOf>, 'permissions'>,
  headers: IncomingHttpHeaders,
): Pick<CallContext, 'inbound'> {
  return { inbound: { permissions, headers } };
}

function readIdempotency(header: string | string[] | undefined): Pick<CallContext, 'idempotencyKey'> | undefined {
  return header === undefined ? undefined : { idempotencyKey: readIdempotencyKey(header) };
}

/** Reads the trace context of a request; `undefined` for callers that do not trace. */
export function readTrace(headers: IncomingHttpHeaders): Pick<CallContext, 'trace'> | undefined {
  const trace = inboundTrace(headers);
  return trace === undefined ? undefined : { trace };
}

/**
 * Reads the header in which another replica asks for a certain revision of the agent (revision claim); absent:
 * `undefined`. A header that is sent twice makes an invalid claim.
 */
function revisionClaim(header: string | string[] | undefined): Pick<CallContext, 'revisionClaim'> | undefined {
  return header === undefined ? undefined : { revisionClaim: String(header) };
}

/** Sets the `A2A-Extensions` header to the requested extensions that the agent supports (section 4.6). */
export function setActivatedExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  if (call.extensions.length === 0) return;
  const active = activeExtensions(call.extensions, agent);
  if (active.length > 0) reply.header('a2a-extensions', active.join(', '));
}

const NONE: readonly string[] = [];

/** Reads the extension URIs of the A2A-Extensions header: comma-separated, also in several headers (section 3.2.6). */
export function activatedExtensions(header: string | string[] | undefined): readonly string[] {
  if (header === undefined || header === '') return NONE;
  const values = Array.isArray(header) ? header.join(',') : header;
  return values.split(',').flatMap((value) => value.trim() || []);
}

/**
 * Returns the `tenant` for the gRPC interface of an agent's card: the agent's path, with a trailing slash if the path
 * has no slash. Clients send this `tenant` with every request (section 8.3.2).
 */
export function pathTenant(path: string): string {
  return path === '' || path.includes('/') ? path : `${path}/`;
}

/**
 * Returns the path of the agent that a `tenant` with a slash addresses. A tenant without a slash names a workflow of
 * the service, so the agent is the service.
 * @returns the agent's path; `''` is the service
 * @throws UnknownAgent if the tenant has a slash and is not the path of an agent
 */
export function tenantPath(tenant: string): string {
  if (!tenant.includes('/')) return '';
  const [first, name, second, node, ...rest] = tenant.split('/');
  if (rest.length === 0) {
    if (first === 'agents' && second === undefined) return agentPath('agent', { agent: name });
    if (first === 'workflows' && second === undefined) return agentPath('workflow', { workflow: name });
    if (first === 'workflows' && second === 'nodes') return agentPath('node', { workflow: name, node });
    if (first === 'conversations' && name === '' && second === undefined) return agentPath('conversations', {});
    if (first === 'nodes' && second === undefined) return agentPath('alias', { node: name });
  }
  throw new UnknownAgent(`no agent at "${textStart(tenant, 64)}"`, 'AGENT_NOT_FOUND', {
    tenant: textStart(tenant, 64),
  });
}

/**
 * Redirects a call at the service's base URL to another agent, if the `tenant` in its parameters is that agent's path.
 * A call at the base URL loses `inbound` (the caller's scopes and the request's headers), except if it is redirected to
 * a registered agent, or if it is a Message to an existing Task, whose agent is not known yet. Calls at other URLs stay
 * unchanged.
 * @throws UnknownAgent if the tenant has a slash and is not the path of an agent
 */
export function atTenant(call: CallContext, params: unknown): CallContext {
  if (call.agent !== '') return call;
  const tenant = isJsonObject(params) ? params.tenant : undefined;
  const path = typeof tenant === 'string' ? tenantPath(tenant) : '';
  if (!isRegisteredAgent(path) && !(path === '' && namesTask(params))) delete call.inbound;
  return path === '' ? call : { ...call, agent: path };
}

/** True for the parameters of a Message to an existing Task. */
export function namesTask(params: unknown): boolean {
  return isJsonObject(params) && isJsonObject(params.message) && params.message.taskId !== undefined;
}

/**
 * Returns the context of a call to an agent. Removes `inbound` (the caller's scopes and the request's headers), unless
 * the agent is a registered agent: an execution keeps the context in memory, and other agents do not need these values.
 */
export function callToAgent(call: CallContext, { path }: Pick<ServedAgent, 'path'>): CallContext {
  if (call.inbound === undefined || isRegisteredAgent(path)) return call;
  const { inbound: _inbound, ...rest } = call;
  return rest;
}

/**
 * Returns the agent whose Tasks a request is about. At the service's base URL this is the workflow that `tenant` names;
 * without a `tenant`, and at every other URL, it is the addressed agent.
 * @throws A2AError INVALID_PARAMS if `tenant` names no workflow
 */
export async function tenantAgent(
  catalog: AgentCatalog,
  agent: ServedAgent,
  { tenant }: { tenant?: string },
  { scope }: Pick<CallContext, 'scope'>,
): Promise<ServedAgent> {
  if (agent.path !== '' || !tenant) return agent;
  return catalog.inTenant(scope.tenant).routeMessage(agent, tenant, 'tenant');
}
