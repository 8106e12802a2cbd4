import { AgentExecutor, CallChains, type CallContext, type ChainLink, type NodeSpec, UnknownAgent } from '#libs/agents';
import { A2AError, dataPart, type JsonObject, type SendMessageRequest, userMessage } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { ANONYMOUS_SCOPE } from '#libs/tasks';
import type { WorkflowRevision } from '#libs/workflow-definition';
import { nodePath, type RunServices, WorkflowExecutor, workflowPath } from '#libs/workflow-engine';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import { ChildRunNode } from './child-run-node.js';

const chains = new CallChains(Buffer.from('a secret'));
const services = { chains, content: DEFAULT_CONTENT_LIMITS } as RunServices;
let store: MemoryWorkflowStore;

beforeEach(async () => {
  store = new MemoryWorkflowStore();
  await store.createWorkflow({ name: 'child', nodes: [{ id: 'in', type: 'input', config: {} }], edges: [] });
  const body = { nodes: [{ id: 'in', type: 'input' }] };
  const inline = { id: 'tr', type: 'workflow', config: { body } };
  await store.createWorkflow({ name: 'parent', nodes: [inline], edges: [] });
});

function executorOf(config: JsonObject): AgentExecutor {
  const executors = { getExecutor: (revision: WorkflowRevision) => new WorkflowExecutor(revision, services) };
  const node: NodeSpec = { id: 'tr', type: 'workflow', config, of: { workflow: 'parent', revision: '1' } };
  return new ChildRunNode(store, executors as never, chains).createExecutor(node);
}

const named = () => executorOf({ workflow: 'child', revision: '1' });
const inline = () => executorOf({ body: {} });

/**
 * Returns the links of a call chain through nested runs: the first workflow has called its node, whose run is the
 * second workflow, and so on.
 */
function calls(...workflows: string[]): ChainLink[] {
  return workflows.reduce<ChainLink[]>((links, name) => {
    const call = {
      task: `run of ${name}`,
      caller: workflowPath(name),
      callee: `http://own/a2a/${nodePath(name, 'tr')}`,
    };
    return chains.extendChain(links, call);
  }, []);
}

function request(data: JsonObject, links: readonly ChainLink[] = []): SendMessageRequest {
  const metadata = { 'urn:parley:extension:hop-chain:v1': links as unknown as JsonObject[] };
  return { message: userMessage([dataPart(data)], { metadata }) };
}

async function refusal(executor: AgentExecutor, asked: SendMessageRequest): Promise<A2AError | UnknownAgent> {
  const call = { scope: ANONYMOUS_SCOPE, agent: 'a', extensions: [], baseUrl: '' } satisfies CallContext;
  try {
    await executor.checkRequest?.(asked, call);
  } catch (error) {
    if (error instanceof A2AError || error instanceof UnknownAgent) return error;
    throw error;
  }
  throw new Error('It was not refused');
}

describe('a workflow node', () => {
  it.each([
    ['one that it names', named, 'child'],
    ['one that stands in it', inline, 'parent.tr'],
  ])('is a run of %s', async (_, executor, workflow) => {
    const asked = request({ in: 'x' }, calls('parent'));
    await executor().checkRequest?.(asked, { scope: ANONYMOUS_SCOPE } as CallContext);
    expect(executor().taskMetadata?.(asked, { scope: ANONYMOUS_SCOPE })).toMatchObject({
      'parley/run': { workflow, revision: '1' },
    });
    expect(executor()).toMatchObject({ recovery: 'restart', cancelGrace: 25_000 });
  });

  it.each([named, inline])(
    'takes the inputs that the workflow takes, and says what is wrong with others',
    async (it) => {
      expect(await refusal(it(), request({ other: 1 }))).toMatchObject({
        reason: 'INVALID_PARAMS',
        detailReason: 'MISSING_INPUT',
        violations: [{ field: 'inputs.in' }, { field: 'inputs.other', reason: 'UNKNOWN_INPUT' }],
      });
    },
  );

  it('does not run a workflow that is at work on what led to it', async () => {
    expect(await refusal(named(), request({ in: 'x' }, calls('child', 'parent')))).toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      detailReason: 'LOOP_DETECTED',
    });
  });

  it('lies at most ten levels below the first run', async () => {
    const levels = Array.from({ length: 11 }, (_, level) => `w${level}`);
    const asked = (count: number) => request({ in: 'x' }, calls(...levels.slice(0, count)));
    await named().checkRequest?.(asked(10), { scope: ANONYMOUS_SCOPE } as CallContext);
    expect(await refusal(named(), asked(11))).toMatchObject({
      message: 'DEPTH_EXCEEDED: 10 runs are nested already',
      detailReason: 'DEPTH_EXCEEDED',
    });
  });

  it('counts workflows that stand in nodes, and nothing else that led to it', async () => {
    const inner = calls(
      'w',
      'w.tr',
      'w.tr.tr',
      'w.tr.tr.tr',
      'w.tr.tr.tr.tr',
      'v',
      'v.tr',
      'v.tr.tr',
      'v.tr.tr.tr',
      'u',
    );
    const others = chains.extendChain(inner, {
      task: 't',
      caller: 'workflows/talk/nodes/c',
      callee: 'http://else/agent',
    });
    const forged = [...others, ...others.map((link) => ({ ...link, signature: 'forged' }))];
    await named().checkRequest?.(request({ in: 'x' }, forged), { scope: ANONYMOUS_SCOPE } as CallContext);
    const further = chains.extendChain(forged, {
      task: 't',
      caller: 'workflows/z',
      callee: 'http://own/a2a/workflows/z/nodes/tr',
    });
    expect(await refusal(named(), request({ in: 'x' }, further))).toMatchObject({ detailReason: 'DEPTH_EXCEEDED' });
  });

  it.each<[JsonObject, string]>([
    [{ workflow: 'child', revision: '9' }, 'revision 9 of workflow "child" not found'],
    [{ workflow: 'child' }, 'it names no revision'],
  ])('says so where %j is not there', async (config, sentence) => {
    expect((await refusal(executorOf(config), request({ in: 'x' }))).message).toBe(sentence);
  });

  it('runs a workflow of the tenant of its caller', async () => {
    const call = { scope: { tenant: 'other', owner: 'me' } } as CallContext;
    await expect(named().checkRequest?.(request({ in: 'x' }), call)).rejects.toThrow('not found');
  });
});
