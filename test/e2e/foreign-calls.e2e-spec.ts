import { ClientFactory } from '@a2a-js/sdk/client';
import type { JsonObject } from '#libs/protocol';
import { firstText, rpc, sendParams, sendTask } from '../support/a2a.js';
import { startAskingAgent } from '../support/asking-sdk-agent.js';
import { Talks } from '../support/conversation.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answersParts, ends, type FakeBehaviour } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { rewriteStored } from '../support/stored-definition.js';
import { until } from '../support/until.js';
import { echo, external, linear, output, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();
interface Canceled {
  status: string;
  children: { node: string; agentUrl: string; taskId?: string; outcome: string }[];
}

/** A run of one external node, as soon as its call is announced. */
async function announced(url: string, config: JsonObject = {}, inputs: JsonObject = {}): Promise<string> {
  const { name } = await stage.api.save(linear(unique('far'), external('x', url, config)));
  const runId = await stage.api.start(name, inputs);
  await (await stage.api.events(runId)).find(({ event }) => event === 'a2a.sending');
  return runId;
}

async function cancel(runId: string): Promise<Canceled> {
  const { status, body, text } = await stage.api.call<Canceled>('POST', `/runs/${runId}/cancel`);
  if (status !== 200) throw new Error(`Not canceled: ${status} ${text}`);
  return body;
}

async function goneAgent(): Promise<FakeAgent> {
  const agent = await stage.fake();
  await agent.goDown();
  return agent;
}

describe('a cancel of a call of an agent that does not stream', () => {
  it.each([
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
    ['0.3', 'JSONRPC'],
    ['0.3', 'HTTP+JSON'],
  ] as const)('reaches the Task at the SDK of A2A %s over %s', async (version, binding) => {
    const { promise: works, resolve: onWait } = Promise.withResolvers<void>();
    const agent = await startAskingAgent({ version, binding, streaming: false, onWait });
    stage.defer(() => agent.stop());
    const runId = await announced(agent.url, { prompt: 'wait' });
    await works;
    await until(async () => (await stage.api.run(runId)).nodes['x']?.taskId, { what: 'the Task to be known' });
    expect(await cancel(runId)).toMatchObject({
      status: 'canceled',
      children: [{ node: 'x', taskId: expect.any(String), outcome: 'acknowledged' }],
    });
  });

  it('says `unknown` where the agent blocks, and its Task is known to nobody', async () => {
    const agent = await stage.fake();
    agent.always({ hang: true });
    const runId = await announced(agent.url);
    await agent.sent();
    const { children } = await cancel(runId);
    expect(children).toEqual([{ node: 'x', agentUrl: agent.url, outcome: 'unknown' }]);
    expect((await stage.api.run(runId)).status).toBe('canceled');
  });

  it('says `not-started` where nobody listened', async () => {
    const agent = await goneAgent();
    const runId = await announced(agent.url);
    expect((await cancel(runId)).children).toEqual([{ node: 'x', agentUrl: agent.url, outcome: 'not-started' }]);
    await agent.comeUp();
    expect(agent.sends).toEqual([]);
  });
});

describe('an agent that starts again', () => {
  it('does not fail the run that calls it meanwhile', async () => {
    const agent = await goneAgent();
    const runId = await announced(agent.url);
    setTimeout(() => void agent.comeUp(), 2_000);
    expect((await stage.api.ended(runId)).status).toBe('completed');
    expect(agent.sends).toHaveLength(1);
  });

  it("does not fail the node's own route, nor a conversation", async () => {
    const agent = await goneAgent();
    const { name } = await stage.api.save(linear(unique('far'), external('x', agent.url)));
    const talks = new Talks(stage.api);
    const task = sendTask(stage.api.base(name, 'x'), 'hello');
    const id = await talks.start({ requester: agent.url, target: agent.url, message: 'hello', maxTurns: 1 });
    setTimeout(() => void agent.comeUp(), 1_000);
    expect(firstText(await task)).toBe('ok');
    expect(await talks.ended(id)).toMatchObject({ outcome: 'done' });
  });

  it('fails the run that waits for it no longer than its time, and says why', async () => {
    const agent = await goneAgent();
    const { name } = await stage.api.save(linear(unique('far'), external('x', agent.url, { timeout: 1 })));
    const said = `external agent call to ${agent.url}: no connection (ECONNREFUSED)`;
    // A machine may be too busy to find that out within the second.
    await until(async () => (await stage.api.ended(await stage.api.start(name))).error?.message.includes(said), {
      what: 'a run that has found nobody',
    });
    const words = async () => (await sendTask(stage.api.base(name, 'x'), 'hello')).status.message?.parts[0]?.text;
    await until(async () => (await words()) === `Error: ${said}`, { what: 'a Task that has found nobody' });
  });
});

describe('the text of an answer', () => {
  const pieces: FakeBehaviour = {
    steps: [
      { artifact: { artifactId: 'a', parts: [{ text: 'fake: ' }] } },
      { artifact: { artifactId: 'a', parts: [{ text: 'hello ' }] }, append: true },
      { artifact: { artifactId: 'a', parts: [{ text: 'Ada' }, { data: { n: 1 } }, { text: 'more' }] }, append: true },
      { status: 'TASK_STATE_COMPLETED' },
    ],
  };

  it.each<[string, FakeBehaviour, string]>([
    ['that came in pieces is all of them', pieces, 'fake: hello Ada'],
    ['of text Parts in a row is all of them', answersParts({ text: 'one ' }, { text: 'two' }), 'one two'],
    [
      'is what the agent said at the end where it made no Artifact',
      ends('TASK_STATE_COMPLETED', 'all said'),
      'all said',
    ],
  ])('%s', async (_what, behaviour, text) => {
    for (const streaming of [true, false]) {
      const agent = await stage.fake({ streaming });
      agent.always(behaviour);
      const name = unique('text');
      const nodes = [external('x', agent.url), echo('next'), output('out', { prompt: '[{{x}}] [{{next}}]' })];
      const run = await stage.api.finish(linear(name, ...nodes));
      expect(textOf(run.result)).toBe(`[${text}] [${text}]`);
      expect(run.state.x).toBe(text);
      expect(firstText(await sendTask(stage.api.base(name, 'x'), 'hello'))).toBe(text);
    }
  });
});

describe('the timeout of an external node', () => {
  it('is refused beyond what a timer holds, naming the field', async () => {
    const config = { timeout: 2_147_484 };
    const reply = await stage.api.call(
      'POST',
      '/workflows',
      linear(unique('t'), external('x', 'http://x.test', config)),
    );
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('timeout must be a number of seconds, from 1 to 2147483');
  });

  it('lets a call of a definition that was kept before go on', async () => {
    const agent = await stage.fake();
    const { name } = await stage.api.save(linear(unique('t'), external('x', agent.url)));
    await rewriteStored(stage.database, name, (definition) => {
      for (const node of definition.nodes) node.config = { ...node.config, timeout: 2_147_484_000 };
    });
    expect(firstText(await sendTask(stage.api.base(name, 'x'), 'hello'))).toBe('ok');
  });

  it("is told in seconds by a run and by the node's own route alike", async () => {
    const agent = await stage.fake();
    agent.always({ hang: true });
    const { name } = await stage.api.save(linear(unique('t'), external('x', agent.url, { timeout: 1 })));
    const said = `external agent call to ${agent.url}: timeout: not finished within 1 s`;
    const run = await stage.api.ended(await stage.api.start(name));
    expect(run.error?.message).toBe(`node "x": ${said}`);
    expect((await sendTask(stage.api.base(name, 'x'), 'hello')).status.message?.parts[0]?.text).toBe(`Error: ${said}`);
  });
});

describe('the base URL of an agent', () => {
  it('is served with a slash at the end, from where its card is found by the rule of URLs', async () => {
    const { name } = await stage.api.save(linear(unique('base'), echo('a')));
    for (const base of [`${stage.parley.url}/a2a/`, `${stage.api.base(name)}/`, `${stage.api.base(name, 'a')}/`]) {
      const { body } = await rpc(base, 'SendMessage', sendParams('hello', { fields: { metadata: { skillId: name } } }));
      expect(body.error).toBeUndefined();
    }
    const client = await new ClientFactory().createFromUrl(`${stage.api.base(name, 'a')}/`);
    expect((await client.getAgentCard()).name).toBe('a');
  });

  it.each(['', '/', '/.well-known/agent-card.json', '/agent-card'])(
    'may be named as base%s wherever an agent is',
    async (end) => {
      const { name } = await stage.api.save(linear(unique('base'), echo('a', { prompt: 'hello' })));
      const url = `${stage.api.base(name, 'a')}${end}`;
      const run = await stage.api.finish(linear(unique('calls'), external('x', url)));
      expect(run.status).toBe('completed');
      const talks = new Talks(stage.api);
      const id = await talks.start({ requester: url, target: url, message: 'hello', maxTurns: 1 });
      expect((await talks.ended(id)).error).toBeUndefined();
    },
  );
});
