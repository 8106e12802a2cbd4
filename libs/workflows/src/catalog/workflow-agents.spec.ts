import { AgentExecutor, type BeginModes, type NodeSpec, NodeTypes, type ServedAgent, UnknownAgent } from '#libs/agents';
import type { Part } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowNode, WorkflowRevision } from '#libs/workflow-definition';
import { WorkflowAgents } from './workflow-agents.js';

const PNG: Part = { raw: 'AAAA', mediaType: 'image/png' };
const PLAIN: Part[] = [{ text: 'a' }, { text: 'b', mediaType: 'text/markdown' }, { data: null }];

/**
 * Executor for tests. Its config has the input modes that it declares (`reads`), and the input modes that its lookup
 * returns (`found`).
 */
class Reading extends AgentExecutor {
  override readonly declares: { inputModes?: string[] };
  override readonly findInputModes?: () => Promise<readonly string[] | undefined>;

  constructor({ config: { reads, found } }: NodeSpec) {
    super();
    this.declares = Array.isArray(reads) ? { inputModes: reads as string[] } : {};
    if (found !== undefined) this.findInputModes = async () => (found === 'any' ? undefined : (found as string[]));
  }

  async *execute(): AsyncIterable<TaskEvent> {}
}

class Types extends NodeTypes {
  readonly names = ['agent', 'input', 'workflow'];
  createExecutor(node: NodeSpec): AgentExecutor {
    if (node.type === 'gone') throw new UnknownAgent('gone', 'NO_EXECUTOR');
    return new Reading(node);
  }
  findProblems(): [] {
    return [];
  }
}

const lookups: string[] = [];

function modesOf(nodes: WorkflowNode[], rest: Partial<WorkflowDefinition> = {}, parts?: Part[]): BeginModes {
  const revision: WorkflowRevision = {
    definition: { name: 'w', edges: [], ...rest, nodes },
    revision: '1',
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  const agents = new WorkflowAgents(revision, {
    nodeTypes: new Types(),
    makeExecutor: () => new Reading({ id: 'w', type: 'w', config: {} }),
    refreshAgent: async (agent) => agent,
    findNodeModes: ({ name, executor, inputModes }: ServedAgent) => {
      if (!executor.findInputModes) return inputModes;
      lookups.push(name);
      return executor.findInputModes('');
    },
  });
  return agents.agent.beginModes?.(parts);
}

const node = (id: string, config: WorkflowNode['config'], type = 'agent'): WorkflowNode => ({ id, type, config });

describe('the media types of Messages to a workflow', () => {
  beforeEach(() => lookups.splice(0));

  it('are all that its first nodes read, besides text and JSON', () => {
    const nodes = [
      node('a', { reads: ['image/*'] }),
      node('b', { reads: ['audio/wav'] }),
      node('c', { reads: ['x/y'] }),
    ];
    const edges = [{ from: 'a', to: 'c' }];
    expect(modesOf(nodes, { edges })).toEqual(['text/plain', 'application/json', 'image/*', 'audio/wav']);
    expect(modesOf([node('a', {})])).toEqual(['text/plain', 'application/json']);
  });

  it('are any where a first node takes any, or there would be too many', () => {
    expect(modesOf([node('a', { reads: ['*/*'] }), node('b', {})])).toBeUndefined();
    const many = Array.from({ length: 100 }, (_, index) => `x/${index}`);
    expect(modesOf([node('a', { reads: many })])).toBeUndefined();
  });

  it('are those of input nodes alone, where there are any', () => {
    expect(modesOf([node('in', { reads: ['*/*'] }, 'input'), node('b', {})])).toBeUndefined();
    expect(modesOf([node('in', { reads: ['x/y'] }, 'input'), node('b', { reads: ['image/*'] })])).toContain('x/y');
  });

  it('leave out nodes of onExit, those after others, and those without an executor', () => {
    const nodes = [
      node('a', {}),
      node('b', { reads: ['image/*'] }),
      node('c', { reads: ['x/y'] }),
      node('d', {}, 'gone'),
    ];
    const rest = { edges: [{ from: 'a', to: 'b' }], onExit: [{ node: 'c' }] };
    expect(modesOf(nodes, rest)).toEqual(['text/plain', 'application/json']);
  });

  it('are those that the definition names, and none else', () => {
    const nodes = [node('a', { reads: ['*/*'] })];
    expect(modesOf(nodes, { inputModes: ['image/*'] })).toEqual(['image/*']);
    expect(modesOf(nodes, { inputModes: ['image/*'] }, PLAIN)).toEqual(['image/*']);
  });

  it('are looked up for a card alone, where only a lookup tells', async () => {
    const nodes = [node('a', { found: ['image/*'] }), node('b', {})];
    expect(await modesOf(nodes)).toEqual(['text/plain', 'application/json', 'image/*']);
    expect(await modesOf([node('a', { found: 'any' })])).toBeUndefined();
    expect(lookups).toEqual(['a', 'a']);
    expect(modesOf(nodes, {}, PLAIN)).toBeUndefined();
    expect(modesOf(nodes, {}, [PNG])).toBeUndefined();
    expect(lookups).toHaveLength(2);
  });

  it('are those of a workflow that is written out in a first node', () => {
    const body = { nodes: [{ id: 'x', type: 'agent', config: { reads: ['image/*'] } }] };
    expect(modesOf([node('in', { body }, 'workflow')])).toContain('image/*');
    expect(modesOf([node('in', { body: { ...body, inputModes: ['x/y'] } }, 'workflow')])).toContain('x/y');
  });
});
