import { A2A_CARD_PATH, agentUrl } from '../http/call-context.js';

/** Version of the AI Catalog specification that the catalogs follow. */
const SPEC_VERSION = '0.9';

/** Path of the catalog of a service, below its base URL. */
export const AI_CATALOG_PATH = '/.well-known/ai-catalog.json';

export const CATALOG_TYPE = 'application/ai-catalog+json';
const AGENT_CARD_TYPE = 'application/a2a-agent-card+json';
const MCP_CARD_TYPE = 'application/mcp-server-card+json';

/** Maximum number of names that one catalog lists. More names are divided among nested catalogs. */
const MOST_NAMES = 250;

/** Entry of a catalog: the address of an agent card, of an MCP server card, or of a nested catalog. */
export interface CatalogEntry {
  identifier: string;
  type: string;
  url: string;
  /** Name of a nested catalog. Cards have names of their own. */
  displayName?: string;
  tags?: string[];
}

/** Signature of a catalog (AI Catalog 0.9, Signature Object). */
export interface CatalogSignature {
  signer: string;
  profile: string;
  issuedAt: string;
  jws: string;
}

export interface AiCatalog {
  specVersion: string;
  host: { displayName: string; identifier?: string };
  entries: CatalogEntry[];
  signature?: CatalogSignature;
}

/** Kinds of names that a nested catalog lists. */
export type ListedKind = 'workflows' | 'agents' | 'nodes';

/** Names in one part of a catalog, sorted, and the limits of that part. */
export interface NameRange {
  names: readonly string[];
  /** First possible name; absent: no limit. */
  from?: string;
  /** Name before which the part ends; absent: no limit. */
  to?: string;
}

/** Facts that decide the identifiers and URLs of a catalog. */
export interface CatalogPlace {
  baseUrl: string;
  /** Domain of the service, which names it in `urn:air` identifiers; absent if it has none. */
  domain?: string;
  /** Tenant of the reader, whose agents have the same URLs as those of other tenants. */
  tenant: string;
}

/** Returns the sorted names of a part. */
export function namesWithin(names: readonly string[], from: string | undefined, to: string | undefined): NameRange {
  const within = names.filter((it) => (from === undefined || it >= from) && (to === undefined || it < to));
  return { names: within.toSorted(compareNames), ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/**
 * Divides names into parts of at most `MOST_NAMES`, or into `MOST_NAMES` larger parts. The limits of the parts leave no
 * gap, so a name that is added later is in exactly one of them.
 */
function divideRange({ names, from, to }: NameRange): NameRange[] {
  const size = Math.max(MOST_NAMES, Math.ceil(names.length / MOST_NAMES));
  const starts = Array.from({ length: Math.ceil(names.length / size) }, (_, index) => index * size);
  return starts.map((start) => {
    const next = names[start + size] ?? to;
    const first = start === 0 ? from : names[start];
    return {
      names: names.slice(start, start + size),
      ...(first !== undefined && { from: first }),
      ...(next !== undefined && { to: next }),
    };
  });
}

/** Builds the entries of the catalogs of one reader. */
export class CatalogEntries {
  constructor(
    private readonly place: CatalogPlace,
    /** True if the reader may see the nodes of workflows. */
    private readonly showsNodes: boolean,
  ) {}

  /** Returns the entries of the service itself: its agent card, and the card of its MCP server. */
  serviceEntries(): CatalogEntry[] {
    const { baseUrl } = this.place;
    return [
      this.cardEntry('', ['agent', 'service'], 'service'),
      {
        identifier: this.identify(['mcp', 'service'], `${baseUrl}/mcp`),
        type: MCP_CARD_TYPE,
        url: `${baseUrl}/mcp/server-card`,
        tags: ['mcp'],
      },
    ];
  }

  /**
   * Returns the entries of a part of the names: the agents, or nested catalogs if there are too many.
   * @param workflow workflow of the nodes; absent for other kinds
   */
  listEntries(kind: ListedKind, range: NameRange, workflow?: string): CatalogEntry[] {
    if (range.names.length > MOST_NAMES) {
      return divideRange(range).map((part) => this.nestedEntry(kind, part, workflow));
    }
    if (kind === 'workflows') return range.names.flatMap((name) => this.workflowEntries(name));
    if (kind === 'nodes') return range.names.map((id) => this.nodeEntry(workflow ?? '', id));
    // The service is not the publisher of registered agents, so their identifiers are no `urn:air` of its domain.
    return range.names.map((name) => this.cardEntry(`agents/${name}`, undefined, 'agent'));
  }

  private workflowEntries(name: string): CatalogEntry[] {
    const card = this.cardEntry(`workflows/${name}`, ['workflow', name], 'workflow');
    return this.showsNodes ? [card, this.nestedEntry('nodes', { names: [] }, name)] : [card];
  }

  private nodeEntry(workflow: string, id: string): CatalogEntry {
    return this.cardEntry(`workflows/${workflow}/nodes/${id}`, ['workflow', workflow, 'node', id], 'node');
  }

  private cardEntry(path: string, segments: readonly string[] | undefined, tag: string): CatalogEntry {
    const url = agentUrl(this.place.baseUrl, path);
    const identifier = this.identify(segments, url);
    return { identifier, type: AGENT_CARD_TYPE, url: `${url}${A2A_CARD_PATH}`, tags: [tag] };
  }

  private nestedEntry(list: ListedKind, { from, to }: NameRange, workflow?: string): CatalogEntry {
    const query = new URLSearchParams({
      list,
      ...(workflow !== undefined && { workflow }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    });
    const url = `${this.place.baseUrl}${AI_CATALOG_PATH}?${query.toString()}`;
    const limits = from === undefined && to === undefined ? [] : [from ?? '', to ?? ''];
    const segments = ['catalog', list, ...(workflow === undefined ? [] : [workflow]), ...limits];
    return { identifier: this.identify(segments, url), type: CATALOG_TYPE, url, displayName: nestedName(query) };
  }

  /**
   * Returns the identifier of an artifact: a `urn:air` of the domain, or else its URL.
   * @param segments namespace and name after the domain; `undefined` for an artifact of another publisher
   */
  private identify(segments: readonly string[] | undefined, url: string): string {
    const { domain, tenant } = this.place;
    if (segments === undefined || domain === undefined) {
      return tenant === '' ? url : `${url}#${encodeURIComponent(tenant)}`;
    }
    const space = tenant === '' ? segments : ['tenant', tenant, ...segments];
    return ['urn:air', domain, ...space.map((it) => (it === '' ? '-' : encodeURIComponent(it)))].join(':');
  }
}

function nestedName(query: URLSearchParams): string {
  const workflow = query.get('workflow');
  const from = query.get('from');
  const whose = workflow === null ? 'All' : `The workflow ${workflow}:`;
  return `${whose} ${query.get('list')}${from === null ? '' : ` from ${from}`}`;
}

/** Returns a catalog without its signature. */
export function aiCatalog(displayName: string, did: string | undefined, entries: CatalogEntry[]): AiCatalog {
  const host = { displayName, ...(did !== undefined && { identifier: did }) };
  return { specVersion: SPEC_VERSION, host, entries };
}
