import { userMessage } from '#libs/protocol';
import { FakeCallingTask, outcomeOf } from '../../../test/support/calling-task.js';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers, ends } from '../../../test/support/fake-behaviour.js';
import { AgentContext } from './agent-call-spec.js';

describe.each([false, true])('AgentCall in the context of earlier calls, streaming: %s', (streaming) => {
  let agent: FakeAgent;
  let context: string | undefined;
  const kept = {
    findContextId: async () => context,
    keepContextId: async (contextId: string) => void (context = contextId),
  };
  const call = (fields = {}) => new FakeCallingTask(agent).call({ context: kept, ...fields });
  const contexts = () => agent.sends.map(({ message }) => message?.contextId);

  beforeEach(async () => {
    context = undefined;
    agent = await FakeAgent.start({ streaming });
  });
  afterEach(() => agent.stop());

  it('sends its Message in the context that the agent gave before', async () => {
    await outcomeOf(call());
    const first = context;
    expect(first).toEqual(expect.any(String));
    await outcomeOf(call());
    expect(contexts()).toEqual([undefined, first]);
    expect(context).toBe(first);
  });

  it('keeps the context of a Task that failed', async () => {
    agent.always(ends('TASK_STATE_FAILED'));
    await outcomeOf(call());
    expect(context).toEqual(expect.any(String));
  });

  it.each([
    ['TaskNotFound', { rpcError: { code: -32001, message: 'no such context' } }],
    ['InvalidParams', { rpcError: { code: -32602, message: 'no such context' } }],
    ['HTTP 404', { httpStatus: 404 }],
  ])('sends its Message once more without the context where the agent says %s', async (_what, refusal) => {
    context = 'forgotten';
    agent.next(refusal).always(answers('new'));
    expect(await outcomeOf(call())).toMatchObject({ kind: 'completed' });
    expect(contexts()).toEqual(['forgotten', undefined]);
    expect(context).not.toBe('forgotten');
  });

  it('fails where the agent refuses its Message without the context too', async () => {
    context = 'forgotten';
    agent.always({ rpcError: { code: -32602, message: 'bad parts' } });
    expect(await outcomeOf(call())).toMatchObject({ kind: 'failed', failure: { kind: 'rpc-error' } });
    expect(contexts()).toEqual(['forgotten', undefined]);
  });

  it('repeats no Message that failed otherwise', async () => {
    context = 'known';
    agent.always({ rpcError: { code: -32000, message: 'busy' } });
    await outcomeOf(call());
    expect(contexts()).toEqual(['known']);
  });

  it('sends an answer to a question in the context of its Task', async () => {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
    const { answer } = await outcomeOf(call());
    context = 'another';
    const { taskId, contextId } = answer;
    const message = userMessage('this', { ...(taskId && { taskId }), ...(contextId && { contextId }) });
    await outcomeOf(call({ request: { message } }));
    expect(contexts()).toEqual([undefined, contextId]);
  });
});

it.each([
  [1_024, 1],
  [1_025, 0],
])('a context of %d characters is kept %d times', async (length, times) => {
  let kept = 0;
  const context = new AgentContext({
    findContextId: async () => undefined,
    keepContextId: async () => void (kept += 1),
  });
  const task = { id: 't', contextId: 'x'.repeat(length), status: { state: 'TASK_STATE_COMPLETED' as const } };
  context.keepFrom({ task });
  await context.waitUntilKept();
  expect(kept).toBe(times);
});
