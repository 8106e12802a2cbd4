import type { JsonObject, SendMessageResponse } from '#libs/protocol';
import { detail, rpc, type RpcReply, sendParams } from '../support/a2a.js';
import { outline, Talks } from '../support/conversation.js';
import type { FakeAgent, FakeCall } from '../support/fake-agent.js';
import { answers } from '../support/fake-behaviour.js';
import { callingInTurn, keepModel } from '../support/kept-model.js';
import { useSharedStage } from '../support/shared-stage.js';
import { before } from '../support/until.js';
import { echo, external, input, linear, textOf, unique } from '../support/workflow.js';

const HOP_CHAIN = 'urn:parley:extension:hop-chain:v1';

const stage = useSharedStage();
let talks: Talks;

beforeAll(() => {
  talks = new Talks(stage.api);
});

/** What a foreign agent does when it is called: it calls on, and passes on what it was told of the way to it. */
type Forward = (call: FakeCall) => Promise<RpcReply<SendMessageResponse>>;

/** Three foreign agents, each of which calls on when it is called; resolves with the answer to the call of the third. */
async function ring(onward: ((next: number) => Forward)[]): Promise<{
  agents: FakeAgent[];
  last: Promise<RpcReply<SendMessageResponse>>;
}> {
  const agents = await Promise.all(['a', 'b', 'c'].map((name) => stage.fake({ name })));
  const { promise, resolve, reject } = Promise.withResolvers<RpcReply<SendMessageResponse>>();
  for (const [index, agent] of agents.entries()) {
    agent.always((call) => {
      const next = (index + 1) % agents.length;
      const forwarded = onward[index]?.(next)(call);
      if (index === agents.length - 1) forwarded?.then(resolve, reject);
      return answers(`${agent.options.name} passed it on`);
    });
  }
  return { agents, last: before(promise, { what: 'the ring to close' }) };
}

const passedOn = (call: FakeCall): JsonObject => call.message?.metadata ?? {};

describe('the hop chain', () => {
  it('three agents in a ring of conversations stop at the first re-entry, after three calls', async () => {
    const urls: string[] = [];
    const converse =
      (next: number): Forward =>
      (call) =>
        rpc(
          `${stage.api.url}/a2a/conversations`,
          'SendMessage',
          sendParams([{ data: { target: urls[next], message: 'pass it on' } as JsonObject }], {
            fields: { metadata: passedOn(call) },
          }),
        );
    const { agents, last } = await ring([converse, converse, converse]);
    urls.push(...agents.map(({ url }) => url));
    const first = await talks.play({ target: urls[0] ?? '', message: 'pass it on' });
    expect(first.map(outline)).toEqual(['0 pass it on', '1 a passed it on', 'complete done']);
    const { body } = await last;
    const task = body.result && 'task' in body.result ? body.result.task : undefined;
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    const stopped = await talks.get(task?.id ?? '');
    expect(stopped).toMatchObject({ outcome: 'error', error: { turn: 1, code: 'LOOP_DETECTED', retryable: false } });
    expect(agents.map(({ sends }) => sends.length)).toEqual([1, 1, 1]);
  });

  it('three agents in a ring of workflows stop at the first re-entry, after three calls', async () => {
    const names = ['a', 'b', 'c'].map((it) => unique(it));
    const run =
      (next: number): Forward =>
      (call) =>
        rpc(
          stage.api.base(names[next] ?? ''),
          'SendMessage',
          sendParams('pass it on', { fields: { metadata: passedOn(call) } }),
        );
    const { agents, last } = await ring([run, run, run]);
    for (const [index, name] of names.entries()) {
      await stage.api.save(linear(name, input('in'), external('x', agents[index]?.url ?? '')));
    }
    const runId = await stage.api.start(names[0] ?? '', { in: 'pass it on' });
    expect((await stage.api.ended(runId)).status).toBe('completed');
    const { body } = await last;
    expect(body.error).toMatchObject({ code: -32004 });
    expect(detail(body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'LOOP_DETECTED' });
    expect(agents.map(({ sends }) => sends.length)).toEqual([1, 1, 1]);
  });

  it('is an extension that cards declare and Messages name, signed, with the root of all', async () => {
    const fake = await stage.fake();
    const id = await talks.start({ target: fake.url, message: 'hello' });
    const { message } = await fake.sent();
    expect(message?.extensions).toEqual([HOP_CHAIN]);
    expect(message?.metadata?.[HOP_CHAIN]).toEqual([
      {
        root: id,
        task: id,
        caller: 'conversations',
        callee: fake.url,
        signature: expect.stringMatching(/^[\w-]{43}$/),
      },
    ]);
    const card = (await (await fetch(`${stage.api.url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions: { uri: string }[] };
    };
    expect(card.capabilities.extensions.map(({ uri }) => uri)).toContain(HOP_CHAIN);
    await talks.ended(id);
  });
});

describe('the budget of a root', () => {
  it.each([
    ['turns', 'turns = 200'],
    ['calls', 'calls = 250'],
    ['seconds', "started_at = now() - interval '25 hours'"],
  ])('stops its conversations with a reason when its %s are used up', async (what, used) => {
    const [a, b] = [await stage.fake({ name: 'a' }), await stage.fake({ name: 'b' })];
    b.always({
      steps: [{ status: 'TASK_STATE_WORKING' }, { hold: true }, { status: 'TASK_STATE_COMPLETED', text: 'B' }],
    });
    const id = await talks.start({ requester: a.url, target: b.url, message: 'hello' });
    await b.sent();
    await stage.database.query(`UPDATE conversation_budget SET ${used} WHERE root = $1`, [id]);
    b.release();
    const done = await talks.ended(id);
    expect(done).toMatchObject({ outcome: 'error', error: { turn: 2, code: 'BUDGET_EXCEEDED' } });
    expect(done.error?.message).toContain(what);
    expect(a.sends).toHaveLength(0);
  });

  it('refuses call 251 by a tool, whose error the model reads', async () => {
    const agent = await stage.fake();
    agent.always(answers('done'));
    const { name: model, llm } = await keepModel(stage.api, stage.defer);
    const tools = [{ agent: agent.url, name: 'b' }];
    const run = Promise.withResolvers<string>();
    const calling = callingInTurn(['agent__b', 'agent__b', 'agent__b']);
    llm.answer = async (body) => {
      const isFirstDone = agent.sends.length === 1;
      const used = 'UPDATE conversation_budget SET calls = 249 WHERE root = $1';
      if (isFirstDone) await stage.database.query(used, [await run.promise]);
      return calling(body);
    };
    const { name } = await stage.api.save(linear(unique('tree'), input('in'), echo('caller', { model, tools })));
    run.resolve(await stage.api.start(name, { in: 'go' }));
    const results = JSON.parse(textOf((await stage.api.ended(await run.promise)).result) ?? '') as string[];
    expect(results).toEqual([
      expect.stringContaining('done'),
      expect.stringContaining('done'),
      expect.stringMatching(/BUDGET_EXCEEDED.* 250 calls/),
    ]);
    expect(agent.sends).toHaveLength(2);
  });
});
