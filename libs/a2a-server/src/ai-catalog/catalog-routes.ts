import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, isAuthenticated, permissionDenied, scopeOf } from '#libs/access';
import type { AgentCatalog } from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import { A2AError, invalidParams } from '#libs/protocol';
import { CREDENTIALS } from '../cards/card-routes.js';
import { digestOf, sendDocument, type WrittenDocument } from '../cards/served-cards.js';
import { agentPath } from '../http/call-context.js';
import { sendRestError } from '../http/rest-binding.js';
import { publicError } from '../public-error.js';
import {
  AI_CATALOG_PATH,
  type AiCatalog,
  aiCatalog,
  CATALOG_TYPE,
  CatalogEntries,
  type CatalogEntry,
  type ListedKind,
  namesWithin,
} from './ai-catalog.js';
import { type CatalogSigner, didOf, domainOf } from './catalog-signer.js';

/** Path of the DID document of a service, below its base URL (did:web). */
const DID_PATH = '/.well-known/did.json';

const KINDS: readonly string[] = ['workflows', 'agents', 'nodes'] satisfies ListedKind[];
/** Pattern of a limit of a part: the name of a workflow, a registered agent or a node. */
const LIMIT = /^[\w.-]{1,900}$/;

export interface AiCatalogRoutesOptions {
  catalog: AgentCatalog;
  address: Pick<ServiceAddress, 'publicBaseUrl' | 'isOwnAddress' | 'variesBy'>;
  /** Signer of catalogs; absent: they are not signed. */
  signer?: CatalogSigner;
  /** True if callers are authenticated. Callers without credentials then see only what is public. */
  isPersonal: boolean;
  /** Milliseconds that readers may keep a catalog without revalidation. */
  maxAgeMs: number;
}

/** Query parameters of a catalog, checked. */
interface CatalogQuery {
  /** Kind of the names of a nested catalog; absent for the catalog of the service. */
  list?: ListedKind;
  workflow?: string;
  from?: string;
  to?: string;
}

/**
 * Registers the routes of the AI Catalog of the service and of its DID document. Call this function before the server is
 * ready.
 *
 * - Every reader gets the agents of its own tenant. A reader without credentials sees the agents that the public card
 *   of the service names.
 * - Each catalog is bounded: many names are divided among nested catalogs.
 * - Each request reads the current names from the database, so all replicas answer alike.
 */
export function registerAiCatalogRoutes(fastify: FastifyInstance, options: AiCatalogRoutesOptions): void {
  const routes = new AiCatalogRoutes(options);
  void fastify.register((scope, _options, done) => {
    scope.get(AI_CATALOG_PATH, (request, reply) => routes.serveCatalog(request, reply));
    scope.get(DID_PATH, (request, reply) => routes.serveDidDocument(request, reply));
    done();
  });
}

class AiCatalogRoutes {
  constructor(private readonly options: AiCatalogRoutesOptions) {}

  async serveCatalog(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const { isPersonal, maxAgeMs, address } = this.options;
      const written = await this.writeCatalog(request);
      const shared = !isPersonal || !isAuthenticated(request.raw);
      const varyBy = [...(isPersonal ? [...CREDENTIALS, 'Cookie'] : []), ...address.variesBy];
      sendDocument(request, reply, written, { shared, maxAgeMs, varyBy });
    } catch (error) {
      sendRestError(request, reply, publicError(error));
    }
  }

  async serveDidDocument(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const { signer, maxAgeMs, address } = this.options;
      const domain = this.ownDomain(address.publicBaseUrl(request.raw));
      if (!signer || domain === undefined) {
        throw new A2AError('METHOD_NOT_FOUND', { message: 'This address has no DID document' });
      }
      const json = JSON.stringify(await signer.didDocument(didOf(domain)));
      const written = { json, etag: `"${digestOf(json)}"`, type: 'application/did+json' };
      sendDocument(request, reply, written, { shared: true, maxAgeMs, varyBy: address.variesBy });
    } catch (error) {
      sendRestError(request, reply, publicError(error));
    }
  }

  private async writeCatalog(request: FastifyRequest): Promise<WrittenDocument> {
    const { address, catalog, signer } = this.options;
    const baseUrl = address.publicBaseUrl(request.raw);
    const domain = this.ownDomain(baseUrl);
    const did = signer && domain !== undefined ? didOf(domain) : undefined;
    const { tenant } = scopeOf(request.raw);
    const place = { baseUrl, tenant, ...(domain !== undefined && { domain }) };
    const entries = new CatalogEntries(place, this.maySeeAll(request));
    const { name } = await catalog.inTenant(tenant).resolveAgent('');
    const document = aiCatalog(name, did, await this.findEntries(request, entries));
    return this.writeSigned(document, did);
  }

  private async writeSigned(document: AiCatalog, did: string | undefined): Promise<WrittenDocument> {
    const json = JSON.stringify(document);
    const digest = digestOf(json);
    const { signer } = this.options;
    if (!signer || did === undefined) return { json, etag: `"${digest}"`, type: CATALOG_TYPE };
    const signature = await signer.signCatalog(document, did, digest);
    return { json: JSON.stringify({ ...document, signature }), etag: `W/"${digest}"`, type: CATALOG_TYPE };
  }

  private async findEntries(request: FastifyRequest, entries: CatalogEntries): Promise<CatalogEntry[]> {
    const query = readQuery(request.query as Record<string, unknown>);
    const { list } = query;
    if (list !== undefined) return this.listEntries(request, entries, { ...query, list });
    const parts = [await this.listEntries(request, entries, { list: 'workflows' })];
    if (this.maySeeAll(request)) parts.push(await this.listEntries(request, entries, { list: 'agents' }));
    return [...entries.serviceEntries(), ...parts.flat()];
  }

  private async listEntries(
    request: FastifyRequest,
    entries: CatalogEntries,
    { list, workflow, from, to }: CatalogQuery & { list: ListedKind },
  ): Promise<CatalogEntry[]> {
    if (list !== 'workflows' && !this.maySeeAll(request)) throw permissionDenied(['agents']);
    const names = await this.readNames(scopeOf(request.raw).tenant, list, workflow);
    return entries.listEntries(list, namesWithin(names, from, to), workflow);
  }

  private readNames(tenant: string, list: ListedKind, workflow: string | undefined): Promise<readonly string[]> {
    const catalog = this.options.catalog.inTenant(tenant);
    if (list === 'workflows') return catalog.listWorkflowNames();
    if (list === 'agents') return catalog.listRegisteredNames();
    // The path checks the name, as for cards.
    return catalog.listNodeIds(agentPath('workflow', { workflow: workflow ?? '' }).slice('workflows/'.length));
  }

  /** True if the reader may see the nodes of workflows and the registered agents, as in the directory of agents. */
  private maySeeAll({ raw }: FastifyRequest): boolean {
    if (!this.options.isPersonal) return true;
    return isAuthenticated(raw) && callerOf(raw).permissions.has('agents');
  }

  private ownDomain(baseUrl: string): string | undefined {
    return this.options.address.isOwnAddress(baseUrl) ? domainOf(baseUrl) : undefined;
  }
}

function readQuery(query: Record<string, unknown>): CatalogQuery {
  const list = readParameter(query, 'list');
  if (list !== undefined && !KINDS.includes(list)) {
    throw invalidParams({ field: 'list', description: `must be one of ${KINDS.join(', ')}` });
  }
  const workflow = readParameter(query, 'workflow');
  if ((workflow !== undefined) !== (list === 'nodes')) {
    throw invalidParams({ field: 'workflow', description: 'is required for the list nodes, and no other list has it' });
  }
  const from = readLimit(query, 'from');
  const to = readLimit(query, 'to');
  if (list === undefined && (from !== undefined || to !== undefined)) {
    throw invalidParams({ field: 'list', description: 'is required with from or to' });
  }
  return { list: list as ListedKind | undefined, workflow, from, to };
}

function readLimit(query: Record<string, unknown>, field: string): string | undefined {
  const value = readParameter(query, field);
  if (value === undefined || LIMIT.test(value)) return value;
  throw invalidParams({ field, description: 'must be the name of an agent' });
}

function readParameter(query: Record<string, unknown>, field: string): string | undefined {
  const value = query[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw invalidParams({ field, description: 'must occur once' });
}
