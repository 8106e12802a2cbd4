import { CalledTask, type AgentCallOptions, HttpAgentDirectory } from '#libs/a2a-client';
import { type JsonObject, type Part, type Task, userMessage } from '#libs/protocol';
import { firstText, rest, rpc, sendParams, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { StrictPre10Client, textPart as text } from '../support/strict-pre-1-0-client.js';
import {
  declaring,
  echo,
  external,
  linear,
  output,
  ruled,
  script,
  says,
  textOf,
  unique,
  type WorkflowNode,
} from '../support/workflow.js';

const stage = useSharedStage();
const NO_TEXT: [string, Part[]][] = [
  ['an empty text', [{ text: '' }]],
  ['data alone', [{ data: { no: 'text' } }]],
];

interface Place {
  id: string;
  workflow: string;
  base: string;
  alias: string;
}

/** A workflow of one node, whose id is unique so that the alias serves it too. */
async function place(make: (id: string) => WorkflowNode): Promise<Place> {
  const id = unique('n');
  const workflow = unique('alias');
  await stage.api.save(linear(workflow, make(id)));
  return { id, workflow, base: stage.api.base(workflow, id), alias: `${stage.parley.url}/a2a/nodes/${id}` };
}

const textsOf = (parts: Part[] | undefined): string[] => (parts ?? []).flatMap(({ text }) => text ?? []);

describe('a Message without text (rows C10, E3, K2)', () => {
  it('at the alias of a node is the order to execute it, where it says nothing else', async () => {
    const { id, alias } = await place((name) => echo(name));
    const task = await sendTask(alias, [{ text: '' }]);
    expect(firstText(task)).toBe(`Execute node ${id}`);
    expect(textsOf(task.history?.[0]?.parts)).toEqual([`Execute node ${id}`]);
  });

  it.each([[[{ data: { a: 1 } }]], [[{ text: '' }, { data: { a: 1 } }]]])(
    'stays there with data: %j',
    async (parts) => {
      const { alias } = await place((name) => script(name, { echo: true }, { complete: true }));
      const task = await sendTask(alias, parts);
      expect(JSON.stringify(task)).not.toContain('Execute');
      expect(task.artifacts?.[0]?.parts).toContainEqual(expect.objectContaining({ data: { a: 1 } }));
    },
  );

  it('is the order there in every dialect and binding', async () => {
    const { id, alias } = await place((name) => echo(name));
    const old = { headers: { 'a2a-version': '' } };
    const founding = async (parts: object[]): Promise<unknown> => {
      const message = { role: 'user', parts };
      const { body } = await rpc<{ artifacts: unknown }>(alias, 'a2a.sendMessage', { message }, old);
      return body.result?.artifacts ?? body;
    };
    const said = [expect.objectContaining({ parts: [expect.objectContaining({ text: `Execute node ${id}` })] })];
    expect(await founding([{ type: 'text', text: '' }])).toEqual(said);
    expect(await founding([])).toEqual(said);
    const legacy = { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: '' }] } };
    const { body } = await rpc<{ artifacts: unknown }>(alias, 'message/send', legacy, old);
    expect(body.result?.artifacts ?? body).toEqual(said);
    const sent = await rest<{ task: Task }>(alias, 'POST', '/message:send', { body: sendParams([{ text: '' }]) });
    expect(sent.body.task.artifacts).toEqual(said);
  });

  it('is told from other requests under its key as it was sent, whatever its node has become', async () => {
    const { id, workflow, alias } = await place((name) => echo(name));
    const options = { headers: { 'idempotency-key': unique('key') }, fields: { messageId: unique('m') } };
    const first = await sendTask(alias, [{ text: '' }], options);
    const changed = linear(workflow, declaring(id, { inputModes: ['application/json'] }, { complete: true }));
    await stage.api.call('PUT', `/workflows/${workflow}`, changed);
    expect((await sendTask(alias, [{ text: '' }], options)).id).toBe(first.id);
  });

  it('has the words of an external node there', async () => {
    const fake = await stage.fake();
    const { id, alias } = await place((name) => external(name, fake.url));
    for (const [, parts] of NO_TEXT) await sendTask(alias, parts);
    expect(fake.texts).toEqual(Array(2).fill(`Execute external node ${id}`));
  });

  it('stays as it is for an agent that reads no text', async () => {
    const reader = { inputModes: ['application/json'] };
    const { alias } = await place((name) => declaring(name, reader, { echo: true }, { complete: true }));
    const task = await sendTask(alias, [{ data: { a: 1 } }]);
    expect(textsOf(task.artifacts?.[0]?.parts)).toEqual([]);
  });

  it('stays as it is where it answers a question: nobody else’s words are put into a caller’s mouth', async () => {
    const asks = { rules: [{ when: { turn: 1 }, steps: [{ ask: 'Which?' }] }], otherwise: says('[{{text}}]') };
    const { alias } = await place((name) => ({ id: name, type: 'script', config: { script: asks } }));
    const { id, contextId } = await sendTask(alias, 'go');
    const task = await sendTask(alias, [{ text: '' }], { fields: { taskId: id, contextId } });
    expect(firstText(task)).toBe('[]');
  });

  it.each(NO_TEXT)('stays as it is at the base of the node: %s', async (_what, parts) => {
    const { base } = await place((name) => echo(name));
    const task = await sendTask(base, parts);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(task)).not.toContain('Execute');
  });

  it.each(NO_TEXT)('stays as it is in a workflow, whose root node is sent the order: %s', async (_what, parts) => {
    const { id, workflow } = await place((name) => echo(name));
    const sent = parts[0]?.data ? [{ data: {} }] : parts;
    const fields = { metadata: { skillId: workflow } };
    for (const task of [
      await sendTask(stage.api.base(workflow), sent),
      await sendTask(`${stage.parley.url}/a2a`, sent, { fields }),
    ]) {
      expect(JSON.stringify(task.history?.[0])).not.toContain('Execute');
      expect(firstText(task)).toBe(`Execute node ${id}`);
    }
  });

  it('is the order to execute it for an agent elsewhere at the root of a workflow', async () => {
    const fake = await stage.fake();
    const id = unique('root');
    const workflow = unique('alias');
    await stage.api.save(linear(workflow, external(id, fake.url), output('out')));
    await sendTask(stage.api.base(workflow), [{ text: '' }]);
    await stage.api.ended(await stage.api.start(workflow));
    expect(fake.texts).toEqual(Array(2).fill(`Execute node ${id}`));
  });
});

describe('a strict client from before A2A 1.0', () => {
  const said = (words: string) => expect.objectContaining({ parts: [text(words)] });

  it.each(['alias', 'base', 'workflow'] as const)('is answered in its own shapes at the %s', async (kind) => {
    const at = await place((name) => echo(name));
    const url = kind === 'workflow' ? stage.api.base(at.workflow) : at[kind];
    const client = new StrictPre10Client(url);
    expect((await client.card()).url).toBe(url);
    for (const words of ['hello', 'again']) {
      const task = await client.send([text(words)]);
      expect(task).toMatchObject({ status: 'completed', artifacts: [said(words)] });
      const parts = [text(words)];
      expect(task.messages).toEqual([
        { role: 'user', parts },
        { role: 'agent', parts },
      ]);
    }
  });

  it('sends data, and gets data and the ids of its dialect', async () => {
    const { alias } = await place((name) => script(name, { echo: true }, { complete: true }));
    const data = { type: 'data', data: { n: [1, null] }, mimeType: 'application/json' } as const;
    const task = await new StrictPre10Client(alias).send([text('hello'), data]);
    expect(task).toMatchObject({ id: expect.stringMatching(/^task-[0-9a-f]{16}$/), status: 'completed' });
    expect(task.artifacts?.[0]?.parts).toEqual([text('hello'), data]);
  });

  it('answers the question of a Task, and gets errors as its dialect has them', async () => {
    const asks = [{ when: { turn: 1 }, steps: [{ ask: 'Which?' }] }];
    const { alias, workflow, base } = await place((name) => ruled(name, asks, says('[{{text}}]')));
    for (const url of [alias, base, stage.api.base(workflow)]) {
      const client = new StrictPre10Client(url);
      const { id, status, messages } = await client.send([text('go')]);
      expect([status, messages?.at(-1)]).toEqual(['input-required', said('Which?')]);
      const task = await client.send([text('red')], id);
      expect(task).toMatchObject({ id, status: 'completed', artifacts: [said('[red]')] });
      await expect(client.send([text('late')], id)).rejects.toThrow(/^a2a error -3200\d: /);
      await expect(client.call(url, 'a2a.getTask', { id })).rejects.toThrow('a2a error -32601: Method not found');
    }
    const failing = await place((name) => script(name, { fail: 'no paper' }));
    expect(await new StrictPre10Client(failing.alias).send([text('x')])).toMatchObject({
      status: 'failed',
      messages: [{}, { role: 'agent', parts: [{ text: 'Error: no paper' }] }],
    });
    await expect(new StrictPre10Client(`${stage.parley.url}/a2a/workflows/nope`).card()).rejects.toThrow('HTTP 404');
  });

  it.each(['alias', 'base', 'workflow'] as const)(
    'holds a dialogue with send-message at the %s, reads its Task, and cancels another one',
    async (kind) => {
      const asks = [{ when: { turn: 1 }, steps: [{ ask: 'Which city?' }] }];
      const at = await place((name) => ruled(name, asks, says('Sunny in {{text}}')));
      const url = { ...at, workflow: stage.api.base(at.workflow) }[kind];
      await dialogue(url);
    },
  );

  async function dialogue(url: string): Promise<void> {
    const client = new StrictPre10Client(url);
    const first = await client.say('weather?');
    const question = {
      state: 'input-required',
      message: { role: 'agent', parts: [{ kind: 'text', text: 'Which city?' }] },
    };
    expect(first.status).toMatchObject(question);
    expect(client.ids).toEqual({ contextId: first.contextId, taskId: first.id });
    const { contextId } = first;
    const second = await client.say('Lima');
    expect(second).toMatchObject({ id: first.id, contextId, status: { state: 'completed' } });
    expect(second.history.map(({ role }) => role)).toEqual(['user', 'agent', 'user', 'agent']);
    expect(await client.get(first.id)).toMatchObject({ id: first.id, history: second.history });
    const other = await client.say('weather?');
    expect(other.id).not.toBe(first.id);
    expect(other.contextId).not.toBe(contextId);
    expect(await client.cancel(other.id)).toMatchObject({ id: other.id, status: { state: 'canceled' } });
    await expect(client.say('late')).rejects.toThrow(/^HTTP 4\d\d: /);
  }
});

describe('a Parley that calls the alias of another one', () => {
  it('calls it in 1.0 by its URL and by its card, and in the pre-1.0 dialect where it is told to', async () => {
    const { alias } = await place((name) => echo(name));
    const directory = new HttpAgentDirectory({ http: { fetch, cachedFetch: fetch } });
    const answered = async (url: string, options: AgentCallOptions): Promise<unknown> => {
      const answer = new CalledTask();
      const client = await directory.resolveClient(url, options);
      for await (const event of client.sendMessage({ message: userMessage('hello') }, options))
        answer.applyResponse(event);
      return [answer.state, answer.taskId?.startsWith('task-'), answer.artifacts[0]?.parts[0]?.text];
    };
    const completed = 'TASK_STATE_COMPLETED';
    expect(await answered(alias, {})).toEqual([completed, false, 'hello']);
    expect(await answered(`${alias}/agent-card`, {})).toEqual([completed, false, 'hello']);
    expect(await answered(alias, { protocol: 'founding' })).toEqual([completed, true, 'hello']);
  });

  /** Hosts of this service: the one that it knows as its own and calls without a socket, and one that it does not know. */
  const hosts = ['127.0.0.1', 'localhost'] as const;
  const ways = hosts.flatMap((host): { host: string; words: string; config: JsonObject }[] => [
    { host, words: 'those of its card', config: {} },
    { host, words: 'those of the pre-1.0 dialect', config: { protocol: 'founding' } },
  ]);

  it.each(ways)('A6 calls its own one from an external node, at $host in words: $words', async ({ host, config }) => {
    const asks = [{ when: { turn: 1 }, steps: [{ ask: 'Which?' }] }];
    const told = await place((name) => echo(name));
    const asking = await place((name) => ruled(name, asks, says('[{{text}}]')));
    const node = (id: string, { alias }: Place, prompt: string): WorkflowNode =>
      external(id, alias.replace('127.0.0.1', host), { prompt, ...config });
    const flow = await stage.api.save(
      linear(unique('own'), node('one', told, 'hello'), node('two', asking, 'got {{one}}')),
    );
    const runId = await stage.api.start(flow.name);
    await stage.api.reached(runId, ['input-required']);
    const answer = { node: 'two', parts: [{ text: 'red' }] };
    expect((await stage.api.call('POST', `/runs/${runId}/answers`, answer)).status).toBe(202);
    const { status, nodes } = await stage.api.ended(runId);
    const said = [nodes.one, nodes.two].map((it) => textOf(it?.artifacts));
    expect([status, said, nodes.one?.attempts]).toEqual(['completed', ['hello', '[red]'], 1]);
    const isOfDialect = host === 'localhost' && 'protocol' in config;
    expect(nodes.one?.taskId?.startsWith('task-')).toBe(isOfDialect);
  });
});
