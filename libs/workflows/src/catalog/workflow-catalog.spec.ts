import fc from 'fast-check';
import { AgentExecutor, BuiltInAgents, NodeTypes, type ServedAgent, UnknownAgent } from '#libs/agents';
import type { A2AError, JsonObject } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowRevision } from '#libs/workflow-definition';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import { WorkflowCatalog } from './workflow-catalog.js';
import { CatalogServices } from './workflow-executors.js';

class Silent extends AgentExecutor {
  async *execute(): AsyncIterable<TaskEvent> {}
}

class KnownTypes extends NodeTypes {
  readonly names = ['agent', 'input', 'workflow'];
  made = 0;
  createExecutor({ type }: { type: string }): AgentExecutor {
    if (!this.names.includes(type)) throw new UnknownAgent(`no executor for node type "${type}"`, 'NO_EXECUTOR');
    this.made += 1;
    return new Silent();
  }
  findProblems(): string[] {
    return [];
  }
}

function setUp() {
  const store = new MemoryWorkflowStore();
  const nodeTypes = new KnownTypes();
  const executors = { getExecutor: (_revision: WorkflowRevision) => new Silent() };
  const config = { serviceName: 'house', serviceDescription: 'All of it' } as AppConfig;
  const own = new BuiltInAgents();
  const catalog = new WorkflowCatalog(store, new CatalogServices(nodeTypes, executors as never, config, own));
  return { store, nodeTypes, own, catalog };
}

function workflow(name: string, ...nodes: string[]): WorkflowDefinition {
  return { name, nodes: nodes.map((id) => ({ id, type: 'agent', config: {} })), edges: [] };
}

async function refusal(promise: Promise<unknown>): Promise<UnknownAgent> {
  const error = await promise.catch((it: unknown) => it);
  if (!(error instanceof UnknownAgent)) throw new Error('Expected UnknownAgent', { cause: error });
  return error;
}

describe('WorkflowCatalog', () => {
  it('shows each tenant its own agents', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow(workflow('ours', 'a'));
    await store.inTenant('t').createWorkflow(workflow('theirs', 'b'));
    const theirs = catalog.inTenant('t');
    expect((await theirs.resolveAgent('')).skills.map((skill) => skill.id)).toEqual(['theirs']);
    expect((await catalog.resolveAgent('')).skills.map((skill) => skill.id)).toEqual(['ours']);
    expect((await theirs.resolveAgent('nodes/b')).path).toBe('workflows/theirs/nodes/b');
    await refusal(theirs.resolveAgent('workflows/ours'));
    await refusal(catalog.resolveAgent('nodes/b'));
    expect(await catalog.inTenant('t').resolveAgent('workflows/theirs')).toBe(
      await theirs.resolveAgent('workflows/theirs'),
    );
    expect(catalog.inTenant('')).toBe(catalog);
    expect((await theirs.inTenant('').resolveAgent('')).skills.map((skill) => skill.id)).toEqual(['ours']);
    expect(theirs.inTenant('t')).toBe(theirs);
  });

  it('has the nodes of workflows that stand in nodes, at the node that they stand in', async () => {
    const { store, catalog } = setUp();
    const inner = { nodes: [{ id: 'deep', type: 'agent', config: { description: 'Digs' } }] };
    const body: JsonObject = {
      nodes: [
        { id: 'a', type: 'agent' },
        { id: 'in', type: 'workflow', config: { body: inner } },
      ],
    };
    await store.createWorkflow({ ...workflow('w', 'b'), nodes: [{ id: 'tr', type: 'workflow', config: { body } }] });
    expect(await catalog.resolveAgent('workflows/w/nodes/tr.a')).toMatchObject({
      path: 'workflows/w/nodes/tr.a',
      name: 'tr.a',
      description: 'agent node a of workflow w.tr',
      version: '1',
    });
    expect(await catalog.resolveAgent('workflows/w/nodes/tr.in.deep', '1')).toMatchObject({ description: 'Digs' });
    for (const path of ['workflows/w/nodes/tr.b', 'workflows/w/nodes/tr.in.a', 'workflows/w/nodes/a', 'workflows/w.tr'])
      await refusal(catalog.resolveAgent(path));
  });

  it("has the service's own agents in every tenant", async () => {
    const { own, catalog } = setUp();
    const agent = { path: 'conversations', name: 'conversations' } as ServedAgent;
    own.add(agent);
    for (const tenant of ['', 't', 'u'])
      expect(await catalog.inTenant(tenant).resolveAgent('conversations')).toBe(agent);
  });

  it('resolves a workflow and a node, with the fields of row F4 and what the author says of them', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow({
      ...workflow('w', 'a'),
      description: 'Does it',
      nodes: [
        { id: 'a', type: 'agent', config: { description: 'Translates', system_prompt: 'You translate' } },
        { id: 'in', type: 'input', config: {} },
        { id: 'b', type: 'agent', config: { description: ' ', system_prompt: 'You translate', prompt: 'Do it' } },
      ],
    });
    expect(await catalog.resolveAgent('workflows/w')).toMatchObject({
      path: 'workflows/w',
      name: 'w',
      description: 'Does it',
      version: '1',
      skills: [{ id: 'w', name: 'w', description: 'Does it' }],
    });
    expect(await catalog.resolveAgent('workflows/w/nodes/a')).toMatchObject({
      path: 'workflows/w/nodes/a',
      name: 'a',
      description: 'Translates',
      skills: [
        {
          id: 'a',
          name: 'agent: a',
          inputModes: ['text/plain'],
          outputModes: ['text/plain', 'application/json'],
        },
      ],
    });
    expect((await catalog.resolveAgent('workflows/w/nodes/in')).description).toBe('input node in of workflow w');
    expect((await catalog.resolveAgent('workflows/w/nodes/b')).description).toBe('agent node b of workflow w');
  });

  it('has one skill of the service for each workflow', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow(workflow('b', 'x'));
    await store.createWorkflow(workflow('a', 'x'));
    const service = await catalog.resolveAgent('');
    expect(service).toMatchObject({ path: '', name: 'house', description: 'All of it' });
    expect(service.skills.map((skill) => skill.id)).toEqual(['a', 'b']);
    expect(await catalog.resolveAgent('')).toBe(service);
    await store.replaceWorkflow({ ...workflow('b', 'x'), description: 'changed' });
    expect((await catalog.resolveAgent('')).skills.map((skill) => skill.description)).toEqual([
      'The workflow a',
      'changed',
    ]);
    await store.delete('a');
    expect((await catalog.resolveAgent('')).skills.map((skill) => skill.id)).toEqual(['b']);
  });

  it('sees a save and a delete at once (row B16)', async () => {
    const { store, catalog } = setUp();
    await refusal(catalog.resolveAgent('workflows/w/nodes/a'));
    await store.createWorkflow(workflow('w', 'a'));
    expect((await catalog.resolveAgent('nodes/a')).path).toBe('workflows/w/nodes/a');
    await store.replaceWorkflow(workflow('w', 'b'));
    expect((await catalog.resolveAgent('workflows/w')).version).toBe('2');
    await refusal(catalog.resolveAgent('nodes/a'));
    await store.delete('w');
    await refusal(catalog.resolveAgent('nodes/b'));
  });

  it('gives the revision that a run was started with, also after a delete', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow(workflow('w', 'a'));
    await store.replaceWorkflow(workflow('w', 'b'));
    await store.delete('w');
    expect((await catalog.resolveAgent('workflows/w', '1')).version).toBe('1');
    expect((await catalog.resolveAgent('workflows/w/nodes/a', '1')).name).toBe('a');
    await refusal(catalog.resolveAgent('workflows/w/nodes/b', '1'));
  });

  it('makes the executor of a node once for each revision', async () => {
    const { store, nodeTypes, catalog } = setUp();
    await store.createWorkflow(workflow('w', 'a'));
    const first = await catalog.resolveAgent('workflows/w/nodes/a');
    expect((await catalog.resolveAgent('nodes/a')).executor).toBe(first.executor);
    expect(nodeTypes.made).toBe(1);
    await store.replaceWorkflow(workflow('w', 'a'));
    expect((await catalog.resolveAgent('nodes/a')).executor).not.toBe(first.executor);
  });

  it('refuses an unknown node with the text of row B14', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow(workflow('w', 'a'));
    for (const path of ['nodes/x', 'workflows/w/nodes/x', 'workflows/nope/nodes/x']) {
      expect(await refusal(catalog.resolveAgent(path))).toMatchObject({
        message: 'node "x" not registered',
        reason: 'NODE_NOT_FOUND',
      });
    }
  });

  it('lists the candidates of an ambiguous alias (row K10)', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow(workflow('one', 'a'));
    await store.createWorkflow(workflow('two', 'a'));
    const error = await refusal(catalog.resolveAgent('nodes/a'));
    expect(error).toMatchObject({
      reason: 'NODE_AMBIGUOUS',
      metadata: { candidates: 'workflows/one/nodes/a, workflows/two/nodes/a' },
    });
    expect(error.message).toContain('ambiguous');
  });

  it('refuses a node that nobody executes with the text of row B15', async () => {
    const { store, catalog } = setUp();
    await store.createWorkflow({ ...workflow('w'), nodes: [{ id: 'a', type: 't', config: {} }] });
    const error = await refusal(catalog.resolveAgent('nodes/a'));
    expect(error).toMatchObject({ message: 'no executor for node type "t"', reason: 'NO_EXECUTOR' });
  });

  it.each([
    'workflows',
    'workflows/',
    'workflows/w/nodes',
    'workflows/w/nodes/',
    'workflows/w/x/a',
    'nodes/a/b',
    'x',
    '/',
  ])('has nobody at %p', async (path) => {
    const { store, catalog } = setUp();
    await store.createWorkflow(workflow('w', 'a'));
    expect((await refusal(catalog.resolveAgent(path))).reason).toBe('AGENT_NOT_FOUND');
  });

  describe('route', () => {
    it('gives an agent that is not the service to itself', async () => {
      const { store, catalog } = setUp();
      await store.createWorkflow(workflow('w', 'a'));
      const agent = await catalog.resolveAgent('workflows/w');
      expect(await catalog.routeMessage(agent, 'anything')).toBe(agent);
    });

    it('gives the workflow that the skill names', async () => {
      const { store, catalog } = setUp();
      await store.createWorkflow(workflow('a', 'x'));
      await store.createWorkflow(workflow('b', 'x'));
      expect((await catalog.routeMessage(await catalog.resolveAgent(''), 'b')).path).toBe('workflows/b');
    });

    it('gives the only workflow where no skill is named', async () => {
      const { store, catalog } = setUp();
      await store.createWorkflow(workflow('only', 'x'));
      expect((await catalog.routeMessage(await catalog.resolveAgent(''), undefined)).path).toBe('workflows/only');
    });

    it.each([
      [
        ['a', 'b'],
        undefined,
        'is required to name a workflow where the request has no tenant that does: it reached the service itself; its skills are a, b',
      ],
      [['a'], 'nope', 'names no skill of this agent; its skills are a'],
      [
        [],
        undefined,
        'is required to name a workflow where the request has no tenant that does: it reached the service itself; no workflow is published',
      ],
    ])('with the workflows %p refuses the skill %p', async (names, skill, description) => {
      const { store, catalog } = setUp();
      for (const name of names) await store.createWorkflow(workflow(name, 'x'));
      const error: A2AError = await catalog.routeMessage(await catalog.resolveAgent(''), skill).then(
        () => fail('expected a refusal'),
        (it: A2AError) => it,
      );
      expect(error.reason).toBe('INVALID_PARAMS');
      expect(error.violations).toEqual([{ field: 'message.metadata.skillId', description }]);
    });
  });

  describe('list', () => {
    it('gives every agent once, in one order, whatever the size of a page', async () => {
      const names = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9_-]{1,3}$/), { maxLength: 5 });
      const workflows = fc.array(names, { maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(workflows, fc.integer({ min: 1, max: 8 }), async (nodes, limit) => {
          const { store, catalog } = setUp();
          for (const [index, ids] of nodes.entries()) await store.createWorkflow(workflow(`w${index}`, ...ids));
          const expected = [
            '',
            ...nodes.flatMap((ids, index) => [
              `workflows/w${index}`,
              ...ids.toSorted().map((id) => `workflows/w${index}/nodes/${id}`),
            ]),
          ];
          expect(await everyPath(catalog, limit)).toEqual(expected);
        }),
        { numRuns: 60 },
      );
    });

    it('leaves out a node that nobody executes', async () => {
      const { store, catalog } = setUp();
      await store.createWorkflow({
        ...workflow('w', 'a'),
        nodes: [
          { id: 'a', type: 't', config: {} },
          { id: 'b', type: 'agent', config: {} },
        ],
      });
      expect(await everyPath(catalog, 1)).toEqual(['', 'workflows/w', 'workflows/w/nodes/b']);
    });

    it('refuses a token that it did not give', async () => {
      const { catalog } = setUp();
      const error: A2AError = await catalog.listAgents(5, 'nonsense').then(
        () => fail('expected a refusal'),
        (it: A2AError) => it,
      );
      expect(error.violations[0]?.field).toBe('pageToken');
    });
  });
});

function fail(message: string): never {
  throw new Error(message);
}

async function everyPath(catalog: WorkflowCatalog, limit: number): Promise<string[]> {
  const paths: string[] = [];
  for (let token: string | undefined; ;) {
    const page = await catalog.listAgents(limit, token);
    expect(page.agents.length).toBeLessThanOrEqual(limit);
    paths.push(...page.agents.map(({ path }) => path));
    if (page.nextPageToken === '') return paths;
    token = page.nextPageToken;
  }
}
