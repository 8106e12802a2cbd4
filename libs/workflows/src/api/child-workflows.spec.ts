import type { JsonObject } from '#libs/protocol';
import { resolveNamedChildren, type WorkflowDefinition } from '#libs/workflow-definition';
import type { WorkflowStore } from '../storage/workflow-store.js';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';

const runs = (workflow: string, revision?: string) => ({
  id: `run_${workflow}`,
  type: 'workflow',
  config: { workflow, ...(revision && { revision }) } as JsonObject,
});
const around = (...nodes: JsonObject[]) => ({
  id: 'inline',
  type: 'workflow',
  config: { body: { nodes } } as JsonObject,
});
const named = (name: string, ...nodes: WorkflowDefinition['nodes']): WorkflowDefinition => ({
  name,
  nodes: [{ id: 'a', type: 'agent', config: {} }, ...nodes],
  edges: [],
});

let store: WorkflowStore;

beforeEach(() => {
  store = new MemoryWorkflowStore();
});

/** Saves a definition as the API does. Returns the problems for which it is refused; empty if it is saved. */
async function save(definition: WorkflowDefinition): Promise<string[]> {
  const found = await resolveNamedChildren(definition, store);
  if ('problems' in found)
    return found.problems.map(({ severity, code, path, detail }) => `${severity} ${code} ${path}: ${detail}`);
  const saved = (await store.createWorkflow(found.definition)) ?? (await store.replaceWorkflow(found.definition));
  return saved ? [] : ['not saved'];
}

async function configOf(name: string, node: number): Promise<JsonObject | undefined> {
  return (await store.get(name))?.definition.nodes[node]?.config;
}

describe('the workflows that nodes name', () => {
  it('are saved with the revision that is the newest then, unless one is named', async () => {
    await save(named('child'));
    await save(named('child'));
    expect(await save(named('parent', runs('child'), runs('child', '1')))).toEqual([]);
    await save(named('child'));
    expect([await configOf('parent', 1), await configOf('parent', 2)]).toEqual([
      { workflow: 'child', revision: '2' },
      { workflow: 'child', revision: '1' },
    ]);
  });

  it('are so too in workflows that stand in nodes', async () => {
    await save(named('child'));
    expect(await save(named('parent', around(around(runs('child'), { id: 'x', type: 'agent' }))))).toEqual([]);
    const inner = { body: { nodes: [runs('child', '1'), { id: 'x', type: 'agent' }] } };
    expect(await configOf('parent', 1)).toEqual({
      body: { nodes: [{ id: 'inline', type: 'workflow', config: inner }] },
    });
  });

  it('have to be there', async () => {
    await save(named('child'));
    expect(await save(named('parent', runs('nobody'), runs('child', '7'), around(runs('nobody'))))).toEqual([
      'error UNKNOWN_WORKFLOW nodes[1].config.workflow: workflow node "run_nobody": there is no workflow "nobody"',
      'error UNKNOWN_REVISION nodes[2].config.revision: workflow node "run_child": workflow "child" has no revision 7; the newest is 1',
      'error UNKNOWN_WORKFLOW nodes[3].config.body.nodes[0].config.workflow: workflow node "inline": there is no workflow "nobody"',
    ]);
    expect(await store.get('parent')).toBeUndefined();
  });

  it('may be deleted afterwards: what is named by its revision stays', async () => {
    await save(named('child'));
    await store.delete('child');
    expect(await save(named('parent', runs('child', '1')))).toEqual([]);
    expect(await save(named('other', runs('child')))).toHaveLength(1);
  });

  it('are given inputs that they have', async () => {
    const input = (id: string, config: JsonObject = {}) => ({ id, type: 'input', config });
    await save({ name: 'child', nodes: [input('a'), input('b', { optional: true })], edges: [] });
    const given = (inputs: JsonObject) =>
      named('parent', { id: 'c', type: 'workflow', config: { workflow: 'child', inputs } });
    expect(await save(given({ b: 1, x: 2 }))).toEqual([
      'error UNKNOWN_INPUT nodes[1].config.inputs.x: workflow node "c": inputs.x is not an input of the workflow that it runs',
      'error MISSING_INPUT nodes[1].config.inputs.a: workflow node "c": inputs.a is required by the workflow that it runs',
    ]);
    expect(await save(given({ a: 1 }))).toEqual([]);
  });

  it('must not lead back to the workflow that is saved', async () => {
    await save(named('a'));
    await save(named('b', runs('a')));
    await save(named('c', around(runs('b'))));
    expect(await save(named('a', runs('c')))).toEqual([
      'error LOOP_DETECTED nodes[1].config.workflow: workflow node "run_c": workflow "a" would run itself (c → b → a)',
    ]);
    expect(await save(named('d', around(runs('d'))))).toEqual([
      'error LOOP_DETECTED nodes[1].config.body.nodes[0].config.workflow: workflow node "inline": workflow "d" would run itself',
    ]);
  });

  it('are looked into once, however many ways lead to them', async () => {
    await save(named('w0'));
    for (let n = 1; n < 10; n += 1)
      await save(named(`w${n}`, runs(`w${n - 1}`), { ...runs(`w${n - 1}`), id: 'again' }));
    const read: string[] = [];
    const noting = {
      get: (name: string, revision?: string) => {
        read.push(`${name}@${revision ?? ''}`);
        return store.get(name, revision);
      },
    };
    expect(await resolveNamedChildren(named('top', runs('w9')), noting)).toHaveProperty('definition');
    expect(read.toSorted()).toEqual([...Array.from({ length: 9 }, (_, n) => `w${n}@1`), 'w9@']);
  });

  it('may have ten runs in each other, as a run may', async () => {
    await save(named('w0'));
    for (let n = 1; n <= 10; n += 1) expect(await save(named(`w${n}`, runs(`w${n - 1}`)))).toEqual([]);
    expect(await save(named('w11', runs('w10')))).toEqual([
      'error DEPTH_EXCEEDED nodes[1].config.workflow: workflow node "run_w10": at most 10 runs can be nested below the first, with "w10" 11',
    ]);
    expect(await save(named('around', around(around(runs('w8')))))).toEqual([
      expect.stringContaining(
        'DEPTH_EXCEEDED nodes[1].config.body.nodes[0].config.body.nodes[0].config.workflow: workflow node "inline"',
      ),
    ]);
    expect(await save(named('bodies', around(around())))).toEqual([]);
    expect(await save(named('below', runs('bodies'), runs('w7')))).toEqual([]);
    const nine = Array.from({ length: 8 }).reduce((inner) => around(inner as JsonObject), runs('bodies'));
    expect(await save(named('deep', nine as ReturnType<typeof around>))).toHaveLength(1);
  });

  it('leave a definition that names none as it is', async () => {
    const definition = named('plain');
    expect(await resolveNamedChildren(definition, store)).toEqual({ definition });
  });
});
