import { type AgentCatalog, type ServedAgent, UnknownAgent } from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import { AgentReferences } from './agent-references.js';

const PATHS = ['workflows/w', 'workflows/w/nodes/n', 'conversations'];
/** Paths of nodes by their alias, as the catalog resolves them. */
const ALIASES: Record<string, string> = { 'nodes/n': 'workflows/w/nodes/n' };

/** Catalog of the agents of the tenant `t`. */
const catalog = {
  inTenant: (tenant: string) => ({
    resolveAgent: async (path: string, revision?: string): Promise<Pick<ServedAgent, 'path'>> => {
      const found = ALIASES[path] ?? path;
      if (tenant === 't' && revision === 'r1' && path === 'workflows/w/nodes/removed') return { path };
      if (tenant === 't' && PATHS.includes(found)) return { path: found };
      throw new UnknownAgent('not found', path.startsWith('nodes/') ? 'NODE_NOT_FOUND' : 'AGENT_NOT_FOUND');
    },
  }),
};
const address = {
  internalUrl: 'http://own',
  ownPath: (url: string) => (url.startsWith('http://own/a2a/') ? url.slice('http://own/a2a/'.length) : undefined),
} as ServiceAddress;
const references = referencesTo(catalog);

const GOES_ON = new AbortController().signal;
const NOBODY = 'there is no agent "nobody"';

describe('AgentReferences', () => {
  it.each([
    ['w', 'http://own/a2a/workflows/w', true],
    ['n', 'http://own/a2a/workflows/w/nodes/n', true],
    ['/a2a/workflows/w/', 'http://own/a2a/workflows/w', true],
    ['workflows/w/nodes/n', 'http://own/a2a/workflows/w/nodes/n', true],
    ['HTTP://agents.example/', 'HTTP://agents.example', false],
  ])('%s is called at %s', async (reference, url, own) => {
    const called = references.callTarget(reference, 't', GOES_ON);
    expect(called.own).toBe(own);
    expect(await called.findTarget()).toEqual({ url, calledAgent: url.replace('http://own/a2a/', '') });
  });

  it.each([
    ['w', 'workflows/w/', true],
    ['n', 'http://own/a2a/nodes/n', true],
    ['w', 'HTTP://own:80/a2a/workflows/w/', true],
    ['http://own/a2a/workflows/w/.well-known/agent-card.json', '/a2a/workflows/w', true],
    ['http://agents.example', 'HTTP://Agents.example/.well-known/agent-card.json', true],
    ['http://agents.example/a2a/workflows/w', 'w', false],
    ['http://agents.example/a', 'http://agents.example/b', false],
    ['w', 'n', false],
    ['nobody', 'nobody', true],
    ['http://own/a2a/workflows/gone', 'w', false],
  ])('%s and %s name one agent: %s', async (one, other, expected) => {
    expect(await references.areSame(one, other, 't')).toBe(expected);
    expect(await references.areSame(other, one, 't')).toBe(expected);
  });

  it.each([
    ['w', true],
    ['/a2a/workflows/w', true],
    ['nobody', true],
    ['HTTP://own:80/a2a/workflows/w/.well-known/agent-card.json', true],
    ['http://agents.example/a2a/workflows/w', false],
    ['http://', false],
  ])('%s names an agent of the service: %s', (reference, expected) => {
    expect(references.isOwn(reference)).toBe(expected);
  });

  it('an agent is called in the revision that is asked for, also where the newest one has none', async () => {
    const [removed, r1] = ['workflows/w/nodes/removed', 'r1'];
    const called = references.callTarget(removed, 't', GOES_ON, r1);
    expect(await called.findTarget()).toMatchObject({ calledAgent: removed });
    await expect(references.callTarget(removed, 't', GOES_ON).findTarget()).rejects.toThrow('not found');
    await expect(references.refuseUnknown([['requester', removed, r1]], 't')).resolves.toBeUndefined();
    await expect(references.refuseUnknown([['requester', removed]], 't')).rejects.toThrow('requester: not found');
  });

  it('an agent that is gone fails the call, and not the look at whose it is', async () => {
    const called = references.callTarget('nobody', 't', GOES_ON);
    expect(called.own).toBe(true);
    await expect(called.findTarget()).rejects.toThrow(NOBODY);
  });

  it('an agent is looked up again while the database is away, until nobody calls any more', async () => {
    const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
    let times = 0;
    const resolve = async (path: string) => {
      times += 1;
      if (times !== 2) throw away;
      return { path };
    };
    const catalog = { inTenant: () => ({ resolveAgent: resolve }) };
    const called = referencesTo(catalog).callTarget('w', 't', GOES_ON);
    expect(await called.findTarget()).toMatchObject({ calledAgent: 'workflows/w' });
    expect(times).toBe(2);
    const over = referencesTo(catalog).callTarget('w', 't', AbortSignal.abort(new Error('over')));
    await expect(over.findTarget()).rejects.toThrow('over');
  });

  it('each field at fault is named, and one that is left out is none', async () => {
    const named = { first: 'nobody', second: undefined, third: 'w', fourth: 'http://ann:secret@agents.example' };
    const known = Object.entries({ second: undefined, third: 'w' });
    await expect(references.refuseUnknown(known, 't')).resolves.toBeUndefined();
    await expect(references.refuseUnknown(Object.entries(named), 't')).rejects.toMatchObject({
      status: 422,
      violations: [
        { field: 'first', description: NOBODY },
        { field: 'fourth', description: expect.not.stringContaining('secret') },
      ],
    });
    await expect(references.refuseUnknown(known, 'another')).rejects.toMatchObject({ status: 422 });
  });

  it('a fault of ours is no unknown agent', async () => {
    const faulty = referencesTo({
      inTenant: () => ({ resolveAgent: async () => Promise.reject(new Error('a fault')) }),
    });
    await expect(faulty.refuseUnknown([['first', 'w']], 't')).rejects.toThrow('a fault');
  });
});

function referencesTo(catalog: { inTenant(tenant: string): unknown }): AgentReferences {
  const made = new AgentReferences(address);
  made.setCatalog(catalog as AgentCatalog);
  return made;
}
