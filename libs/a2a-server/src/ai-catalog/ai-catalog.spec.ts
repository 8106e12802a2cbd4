import { catalogFaults } from '../../../../test/support/ai-catalog-schema.js';
import {
  aiCatalog,
  CatalogEntries,
  type CatalogEntry,
  CATALOG_TYPE,
  type ListedKind,
  namesWithin,
} from './ai-catalog.js';

const PLACE = { baseUrl: 'https://flows.example.com', domain: 'flows.example.com', tenant: '' };

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `flow-${String(index).padStart(6, '0')}`);
}

/** Reads a catalog and all nested catalogs of workflows as a client does, by their URLs. */
function crawl(names: readonly string[], query = new URLSearchParams('list=workflows'), depth = 1): CrawledCatalog {
  const range = namesWithin(names, query.get('from') ?? undefined, query.get('to') ?? undefined);
  const entries = new CatalogEntries(PLACE, false).listEntries(query.get('list') as ListedKind, range);
  expect(catalogFaults(aiCatalog('Flows', undefined, entries))).toEqual([]);
  const nested = entries.filter(({ type }) => type === CATALOG_TYPE);
  const below = nested.map(({ url }) => crawl(names, new URL(url).searchParams, depth + 1));
  return {
    cards: [...entries.filter((it) => !nested.includes(it)), ...below.flatMap(({ cards }) => cards)],
    depth: Math.max(depth, ...below.map((it) => it.depth)),
    most: Math.max(entries.length, ...below.map(({ most }) => most)),
  };
}

interface CrawledCatalog {
  cards: CatalogEntry[];
  depth: number;
  /** Largest number of entries of one catalog. */
  most: number;
}

describe('the catalogs of many workflows', () => {
  it.each([
    [0, 1],
    [250, 1],
    [251, 2],
    [2_000, 2],
    [70_000, 3],
  ])('list each of %i workflows once, in %i levels of at most 250 entries', (count, levels) => {
    const names = numbered(count);
    const { cards, depth, most } = crawl(names);
    expect(cards.map(({ url }) => new URL(url).pathname.split('/')[3])).toEqual(names);
    expect([depth, most <= 250]).toEqual([levels, true]);
  });

  it('list a workflow that is saved between two reads, wherever its name sorts', () => {
    const before = new CatalogEntries(PLACE, false).listEntries(
      'workflows',
      namesWithin(numbered(600), undefined, undefined),
    );
    for (const late of ['aaa', 'flow-000249x', 'flow-000300x', 'zzz']) {
      const names = [...numbered(600), late];
      const seen = before.flatMap(({ url }) => crawl(names, new URL(url).searchParams).cards);
      expect(seen.filter(({ identifier }) => identifier.endsWith(`:${late}`))).toHaveLength(1);
    }
  });
});

describe('identifiers', () => {
  const of = (place: typeof PLACE | { baseUrl: string; tenant: string }) =>
    new CatalogEntries(place, true)
      .listEntries('workflows', namesWithin(['greet'], undefined, undefined))
      .map(({ identifier }) => identifier);

  it('are names of the domain, and of the tenant, whose agents share URLs with those of others', () => {
    expect(of(PLACE)).toEqual([
      'urn:air:flows.example.com:workflow:greet',
      'urn:air:flows.example.com:catalog:nodes:greet',
    ]);
    expect(of({ ...PLACE, tenant: 'acme co' })[0]).toBe('urn:air:flows.example.com:tenant:acme%20co:workflow:greet');
  });

  it('are URLs if the service has no domain of its own', () => {
    const local = { baseUrl: 'http://127.0.0.1:3000', tenant: '' };
    expect(of(local)[0]).toBe('http://127.0.0.1:3000/a2a/workflows/greet');
    expect(of({ ...local, tenant: 'acme' })[0]).toBe('http://127.0.0.1:3000/a2a/workflows/greet#acme');
  });

  it('of registered agents are never names of the domain, which does not publish them', () => {
    const entries = new CatalogEntries(PLACE, true).listEntries(
      'agents',
      namesWithin(['pricing'], undefined, undefined),
    );
    expect(entries).toEqual([
      {
        identifier: 'https://flows.example.com/a2a/agents/pricing',
        type: 'application/a2a-agent-card+json',
        url: 'https://flows.example.com/a2a/agents/pricing/.well-known/agent-card.json',
        tags: ['agent'],
      },
    ]);
  });
});
