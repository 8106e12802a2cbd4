import { talkKey } from '#libs/durable';
import type { JsonObject } from '#libs/protocol';
import { FakeRemoteContexts } from '../testing/driven-run.js';
import { nodeContext } from './node-dispatch.js';

const AGENT = 'http://127.0.0.1:9';

interface Where {
  tenant?: string;
  owner?: string;
  contextId?: string;
  workflow?: string;
  node?: string;
  url?: string;
  parent?: { taskId: string; reference: string };
  isRerun?: boolean;
  index?: number;
  type?: string;
  config?: JsonObject;
}

function contextOf(contexts: FakeRemoteContexts, where: Where = {}) {
  const { tenant = '', owner = 'ann', contextId = 'c', workflow = 'w', node = 'x', url = AGENT } = where;
  const { parent, isRerun = false, index, type = 'external', config = {} } = where;
  const nodes = [{ id: node, type, config }];
  const call = { scope: { tenant, owner }, agent: `workflows/${workflow}`, extensions: [], baseUrl: '' };
  const context = {
    taskId: 'run',
    contextId,
    call: { ...call, ...(parent && { parent }) },
    signal: new AbortController().signal,
  };
  const run = { context, definition: { name: workflow, nodes, edges: [] }, isRerun };
  return nodeContext(contexts, run, { id: node, type, ...(index !== undefined && { index }) }, url);
}

describe('the context of the agent of an external node', () => {
  let contexts: FakeRemoteContexts;

  beforeEach(async () => {
    contexts = new FakeRemoteContexts();
    await contextOf(contexts)?.keepContextId('theirs');
  });

  it('is shared by the turns of a context and the iterations of a loop', async () => {
    expect(await contextOf(contexts)?.findContextId()).toBe('theirs');
    expect(await contextOf(contexts, { parent: { taskId: 'p', reference: 'child@2#1' } })?.findContextId()).toBe(
      'theirs',
    );
  });

  it.each<[string, Where]>([
    ['tenant', { tenant: 'other' }],
    ['owner', { owner: 'bob' }],
    ['context', { contextId: 'd' }],
    ['workflow', { workflow: 'v' }],
    ['node', { node: 'y' }],
    ['URL', { url: `${AGENT}/other` }],
    ['rerun', { isRerun: true }],
    ['child run of an entry of a list', { parent: { taskId: 'p', reference: 'child[1]#1' } }],
  ])('is not that of another %s', async (_what, where) => {
    const other = contextOf(contexts, where);
    expect(await other?.findContextId()).toBeUndefined();
    await other?.keepContextId('others');
    expect(await contextOf(contexts)?.findContextId()).toBe('theirs');
  });

  it.each<[string, Where]>([
    ['an entry of a list', { index: 0 }],
    ['a node that wants none', { config: { history: 'none' } }],
    ['an agent of this service', { type: 'agent' }],
  ])('is not kept for %s', (_what, where) => {
    expect(contextOf(contexts, where)).toBeUndefined();
  });

  it('is found by a key that tells all members apart', () => {
    const talk = { tenant: 'a', owner: 'b', contextId: 'c', workflow: 'd', node: 'e', agentUrl: 'f' };
    expect(talkKey(talk)).not.toBe(talkKey({ ...talk, tenant: 'ab', owner: '' }));
    expect(talkKey(talk)).toMatch(/^[0-9a-f]{64}$/);
  });
});
