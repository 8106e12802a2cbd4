import { CALL_CHAIN, CallChains, ConversationEntries, type ConversationEntry, keptChain } from '#libs/agents';
import { dataPart, runEventMetadata, textPart, userMessage } from '#libs/protocol';
import { ANONYMOUS_SCOPE } from '#libs/tasks';
import type { WorkflowNode } from '#libs/workflow-definition';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';

/** Creates agents that answer `<node id> of <text of the Message>`. */
const echoing = () => new FakeAgents((call) => call.complete(`${call.node} of ${call.text}`));

describe('WorkflowExecutor', () => {
  test('runs a diamond: each node once, after its parents, with what they said', async () => {
    const run = new DrivenRun(workflowOf('a b c d', 'a>b a>c b>d c>d'), echoing());
    expect(await run.start([dataPart({})])).toBe('TASK_STATE_COMPLETED');
    expect(run.agents.calls.map((call) => call.node)).toEqual(['a', 'b', 'c', 'd']);
    expect(run.agents.calls.at(-1)?.text).toBe('b of a of Execute node a\n\nc of a of Execute node a');
    expect(run.task.artifacts?.map(({ name, artifactId }) => [name, artifactId])).toEqual([['d', 'd']]);
    expect(run.task.status.message?.parts[0]?.text).toMatch(/^d of b of a/);
  });

  test('tells every node in order: started, sending, its own steps, received, completed (C13, C14)', async () => {
    const agents = new FakeAgents((call) => {
      const step = runEventMetadata({ type: 'model.request', payload: { model: 'echo' } });
      call.task().status('TASK_STATE_WORKING', undefined, step).complete('done');
    });
    const run = new DrivenRun(workflowOf('a out', 'a>out'), agents);
    await run.start();
    expect(run.steps).toEqual([
      'node.started',
      ...['a', 'out'].flatMap((id) =>
        ['node.started', 'a2a.sending', 'model.request', 'a2a.received', 'node.completed'].map(
          (type) => `${type} ${id}`,
        ),
      ),
      'done',
    ]);
    expect(run.runEvents[4]).toMatchObject({
      url: 'http://own/a2a/workflows/wf/nodes/a',
      message: 'completed (1 artifact)',
    });
    expect(run.runEvents[5]).toMatchObject({ status: 'completed', output: 'done', payload: { status: 'completed' } });
    expect(run.runEvents[3]).toMatchObject({ node_id: 'a', node_type: 'agent', model: 'echo' });
  });

  test("the answer of a model that came in pieces is one Part of the run's", async () => {
    const agents = new FakeAgents((call) => {
      call.task().artifact({ parts: [textPart('on')] });
      call.artifact({ parts: [textPart('e')] }, true);
      call.status('TASK_STATE_COMPLETED', 'one').end();
    });
    const run = new DrivenRun(workflowOf('a', ''), agents);
    expect(await run.start()).toBe('TASK_STATE_COMPLETED');
    expect(run.task.artifacts?.map(({ parts }) => parts)).toEqual([[textPart('one')]]);
  });

  describe('asked by a conversation', () => {
    const entry: ConversationEntry = {
      instructions: 'Speak.',
      role: 'target',
      self: 'wf',
      peer: 'critic',
      turn: 3,
      maxTurns: 5,
      skip: 'REPLY_SKIP',
    };
    const prompt = "${run.conversation == null ? 'alone' : run.conversation.role + string(run.conversation.turn)}";
    const nodes: WorkflowNode[] = [
      { id: 'a', type: 'agent', config: { prompt } },
      { id: 'b', type: 'agent', config: {} },
    ];
    /**
     * Returns the texts that `a` and `b` are sent, first by a run and then by the same run after a crash. The run
     * begins with a Message that has an entry signed with `secret`.
     */
    const asked = async (secret: string): Promise<(string | undefined)[][]> => {
      const message = userMessage('hi', { messageId: 'm-1' });
      const signed = new ConversationEntries(new CallChains(Buffer.from(secret))).attachEntry(
        entry,
        message,
        ANONYMOUS_SCOPE,
      );
      const definition = workflowOf('a b', 'a>b', { language: 2, nodes });
      const run = new DrivenRun(definition, echoing());
      await run.start(signed);
      const rest = new DrivenRun(definition, echoing());
      await rest.recover(run.log.slice(0, 1));
      return [run, rest].map(({ agents }) => agents.calls.map(({ text }) => text));
    };

    test('knows the turn as run.conversation, which changes no prompt by itself, also after a crash', async () => {
      const texts = ['target3', 'a of target3'];
      expect(await asked('a secret')).toEqual([texts, texts]);
    });

    test('knows nothing of an entry that another service has signed', async () => {
      const texts = ['alone', 'a of alone'];
      expect(await asked('another secret')).toEqual([texts, texts]);
    });
  });

  test("never passes on steps that are not a node's to tell", async () => {
    const agents = new FakeAgents((call) => {
      call
        .task()
        .status(
          'TASK_STATE_WORKING',
          undefined,
          runEventMetadata({ type: 'workflow.failed', payload: { error: 'x' } }),
        );
      call.status('TASK_STATE_WORKING', undefined, { 'parley/event': { type: 'tool.call', payload: 'no object' } });
      call.complete('fine');
    });
    const run = new DrivenRun(workflowOf('ext', ''), agents);
    expect(await run.start()).toBe('TASK_STATE_COMPLETED');
    expect(run.steps).not.toContain('workflow.failed');
    expect(run.steps).not.toContain('tool.call ext');
  });

  test('starts independent nodes together (C3)', async () => {
    const run = new DrivenRun(workflowOf('a b c', 'a>b a>c'), new FakeAgents());
    const ended = run.start();
    (await run.agents.called('a')).complete('A');
    const [b, c] = [await run.agents.called('b'), await run.agents.called('c')];
    expect(run.steps.filter((step) => /received [bc]|completed [bc]/.test(step))).toEqual([]);
    c.complete('C');
    b.complete('B');
    expect(await ended).toBe('TASK_STATE_COMPLETED');
    expect(run.steps.indexOf('node.completed c')).toBeLessThan(run.steps.indexOf('node.completed b'));
    expect(run.task.artifacts?.map(({ name }) => name)).toEqual(['c', 'b']);
    expect(run.task.status.message?.parts[0]?.text).toBe('B');
  });

  test('a call that leaves the process is durably announced in the log before it is made', async () => {
    const run = new DrivenRun(
      workflowOf('ext', ''),
      new FakeAgents((call) => {
        expect(run.steps.slice(0, run.durable)).toContain(`a2a.sending ${call.node}`);
        call.complete('x');
      }),
    );
    expect(await run.start()).toBe('TASK_STATE_COMPLETED');
  });

  test('the input is what a prompt means, whatever its node answered (D7)', async () => {
    const definition = workflowOf('in summary', 'in>summary');
    const [, summary] = definition.nodes;
    if (summary) summary.config = { prompt: 'Summarize: {{in}}' };
    const run = new DrivenRun(definition, new FakeAgents((call) => call.complete('summary output')));
    await run.start('hello world');
    expect(run.agents.calls.map((call) => call.text)).toEqual(['hello world', 'Summarize: hello world']);
  });

  test("calls own nodes in the run's context, external ones at their endpoint and in their own", async () => {
    const run = new DrivenRun(workflowOf('a ext', 'a>ext'), echoing());
    await run.start();
    const [own, external] = run.agents.calls;
    expect(own).toMatchObject({
      url: 'http://own/a2a/workflows/wf/nodes/a',
      options: { scope: { tenant: '', owner: '' }, parent: { taskId: 'run-1', reference: 'a#1' } },
      request: {
        message: { contextId: 'context-1', role: 'ROLE_USER' },
        metadata: { 'parley/revision': 'r1' },
      },
    });
    // The definition of a local agent decides its output modes.
    expect(own?.request?.configuration).toBeUndefined();
    expect(own?.options.timeouts).toBeUndefined();
    expect(external).toMatchObject({
      url: 'http://remote/ext',
      request: { configuration: { acceptedOutputModes: ['text/plain', 'application/json'] } },
      options: { timeouts: { total: Infinity, firstEvent: Infinity, idle: Infinity } },
    });
    expect(external?.request?.message.contextId).toBeUndefined();
    expect(external?.request?.metadata).toBeUndefined();
    const [link] = keptChain(external?.request?.message.metadata);
    expect(link).toMatchObject({ root: 'run-1', task: 'run-1', caller: 'workflows/wf', callee: external?.url });
    expect(external?.request?.message.extensions).toEqual([CALL_CHAIN]);
  });

  test('remembers the Tasks of foreign agents at first sight, and of own ones only when called over HTTP', async () => {
    const run = new DrivenRun(workflowOf('a ext', ''), new FakeAgents());
    const ended = run.start();
    (await run.agents.called('a')).complete('A');
    const ext = await run.agents.called('ext');
    ext.task();
    ext.complete('E');
    await ended;
    expect(run.children.remembered).toEqual([
      { runId: 'run-1', nodeId: 'ext', attempt: 1, taskId: 'task-of-ext', agentUrl: 'http://remote/ext' },
    ]);
    const remote = new DrivenRun(workflowOf('a', ''), echoing());
    remote.localDispatch = false;
    await remote.start();
    expect(remote.children.remembered).toMatchObject([{ nodeId: 'a', taskId: 'task-of-a' }]);
  });

  test('a Task that cannot be remembered does not fail its node', async () => {
    const run = new DrivenRun(workflowOf('ext', ''), echoing());
    run.children.rememberChild = async () => {
      throw new Error('the database is away');
    };
    expect(await run.start()).toBe('TASK_STATE_COMPLETED');
  });

  test('takes Artifacts in pieces, a direct Message, and the last word of an agent', async () => {
    const run = new DrivenRun(workflowOf('a b ext ext2', ''), new FakeAgents());
    const ended = run.start();
    const a = await run.agents.called('a');
    a.task()
      .artifact({ parts: [textPart('one')] })
      .artifact({ parts: [dataPart(2)] }, true)
      .status('TASK_STATE_COMPLETED')
      .end();
    (await run.agents.called('b')).finish('TASK_STATE_COMPLETED', 'said');
    (await run.agents.called('ext')).reply(textPart('direct'));
    (await run.agents.called('ext2')).finish('TASK_STATE_COMPLETED', 'said');
    await ended;
    const parts = Object.entries(run.state.artifactMap()).map(([id, artifacts]) => [id, artifacts[0]?.parts]);
    expect(Object.fromEntries(parts)).toMatchObject({
      a: [textPart('one'), dataPart(2)],
      b: [textPart('said')],
      ext: [textPart('direct')],
      ext2: [textPart('said')],
    });
  });

  test("keeps all Artifacts of a node, and makes one of an output node's (several outputs: one each)", async () => {
    const two = [
      { artifactId: 'x', parts: [textPart('1')] },
      { artifactId: 'y', parts: [dataPart({ n: 2 })] },
    ];
    const agents = new FakeAgents((call) => call.task('TASK_STATE_COMPLETED', { artifacts: two }).end());
    const run = new DrivenRun(workflowOf('a out1 out2', 'a>out1 a>out2'), agents);
    await run.start();
    expect(run.task.artifacts).toMatchObject(
      ['out1', 'out2'].map((name) => ({ name, parts: [textPart('1'), dataPart({ n: 2 })] })),
    );
    expect(run.state.getNode('a').artifacts).toEqual(two);
    expect(run.state.getNode('out1').artifacts).toEqual(two);
  });

  test('a stored definition that is no DAG fails its run with the reason (C5)', async () => {
    const run = new DrivenRun(workflowOf('a b', 'a>b b>a'), echoing());
    expect(await run.start()).toBe('TASK_STATE_FAILED');
    expect(run.steps).toEqual(['node.started', 'workflow.failed', 'done']);
    expect(run.state.error).toEqual({
      kind: 'refused',
      message: 'build DAG: cycle detected in workflow graph (excluding back-edges)',
    });
    expect(run.agents.calls).toEqual([]);
  });

  test('holds many runs at once without mixing them (C16)', async () => {
    const runs = Array.from(
      { length: 50 },
      () => new DrivenRun(workflowOf('in a b out', 'in>a in>b a>out b>out'), echoing()),
    );
    await Promise.all(runs.map((run, index) => run.start(`input ${index}`)));
    for (const [index, run] of runs.entries()) {
      const input = `in of input ${index}`;
      expect(run.state.stateMap()).toEqual({
        __user_input__in: `input ${index}`,
        in: input,
        a: `a of ${input}`,
        b: `b of ${input}`,
        out: `out of a of ${input}\n\nb of ${input}`,
      });
    }
  });
});
