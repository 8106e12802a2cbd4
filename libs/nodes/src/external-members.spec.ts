import { HttpAgentDirectory } from '#libs/a2a-client';
import { CALL_CHAIN, CallChains, type RequestContext } from '#libs/agents';
import { type JsonObject, type Message, statusUpdate, userMessage } from '#libs/protocol';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import type { FakeStep } from '../../../test/support/fake-behaviour.js';
import { ExternalNode } from './external-node.js';
import type { NodeEvent } from './node-executor.js';
import { artifactParts, outline, played, taskWith, turn } from './testing/turn.js';

const FEATURE = 'https://agents.example/ext/priority/v1';

describe('what an external node passes on beside Parts', () => {
  const directory = new HttpAgentDirectory({ http: { fetch, cachedFetch: fetch }, onCardless: () => undefined });
  const type = new ExternalNode(directory, new CallChains(Buffer.from('a secret')));
  let agent: FakeAgent;

  const play = (context: RequestContext) =>
    played(type.createExecutor({ id: 'ext', type: 'external', config: { endpoint_url: agent.url } }), context);
  const working = (text: string): FakeStep => ({ status: 'TASK_STATE_WORKING', text });
  const completed = { status: 'TASK_STATE_COMPLETED' } as const;

  beforeEach(async () => {
    agent = await FakeAgent.start({ streaming: true });
  });
  afterEach(() => agent.stop());

  it('are the members that the caller wrote for the agent, and none for this service', async () => {
    const message: Message = {
      ...userMessage('hello'),
      metadata: {
        tone: { kind: [null, 1] },
        skillId: 's',
        node: 'n',
        traceparent: 't',
        'parley/x': 1,
        'urn:parley:y': 2,
      },
      extensions: [FEATURE, 'urn:parley:extension:form:v1'],
      referenceTaskIds: ['theirs'],
    };
    await play(turn(message, { metadata: { budget: 3, 'parley/revision': '1' } }));
    const [sent] = agent.sends;
    expect(sent?.body).toMatchObject({ params: { metadata: { budget: 3 } } });
    const { [CALL_CHAIN]: _chain, ...metadata } = sent?.message?.metadata ?? {};
    expect(metadata).toEqual({ tone: { kind: [null, 1] } });
    expect(sent?.message).toMatchObject({ extensions: [FEATURE, CALL_CHAIN], referenceTaskIds: ['theirs'] });
    expect(sent?.message?.messageId).not.toBe(message.messageId);
    expect(sent?.headers['a2a-extensions']).toBe(FEATURE);
  });

  it('are the metadata of the request also after a crash', async () => {
    const executor = type.createExecutor({ id: 'ext', type: 'external', config: { endpoint_url: agent.url } });
    const asked = { budget: 3, skillId: 's', 'parley/revision': '1' };
    const context = turn('hello', { metadata: asked });
    const ofTask = executor.taskMetadata?.({ message: context.userMessage, metadata: asked }, context.call);
    const begun = statusUpdate(context, 'TASK_STATE_WORKING');
    await play({ ...context, metadata: ofTask, recovered: 1, readTaskLog: async () => [begun] });
    const task = { ...taskWith('hello', 'which?'), metadata: ofTask ?? {} };
    const later = { ...turn('this one', { metadata: { budget: 4 } }), task };
    const [noted] = await play(later);
    const log = [begun, noted!];
    await play({ ...later, metadata: ofTask, recovered: 1, readTaskLog: async () => log });
    await play({ ...later, metadata: ofTask, recovered: 1, readTaskLog: async () => [begun, begun] });
    const sent = agent.sends.map(({ body }) => (body as { params: { metadata?: JsonObject } }).params.metadata);
    expect(sent).toEqual([{ budget: 3 }, { budget: 4 }, { budget: 4 }, undefined]);
  });

  it('are the texts of an agent at work, each once', async () => {
    agent.always({ steps: [working('first'), { hold: true }, working('first'), working('second'), completed] });
    const executor = type.createExecutor({ id: 'ext', type: 'external', config: { endpoint_url: agent.url } });
    const events: NodeEvent[] = [];
    for await (const event of executor.execute(turn('x'))) {
      const isFirst = JSON.stringify(event).includes('"first"');
      events.push(event as NodeEvent);
      // The pause is longer than the minimum time between two reported texts.
      if (isFirst) setTimeout(() => agent.release(), 300);
    }
    const said = events.flatMap((event) => ('statusUpdate' in event ? [event.statusUpdate.status] : []));
    const texts = said.flatMap(({ state, message }) =>
      state === 'TASK_STATE_WORKING' && message ? message.parts.map(({ text }) => text) : [],
    );
    expect(texts).toEqual(['first', 'second']);
  });

  it('are the metadata and extensions of a question and of an Artifact', async () => {
    const ofMessage = { urgency: 1, 'parley/question': 'forged' };
    agent.next({ steps: [{ status: 'TASK_STATE_AUTH_REQUIRED', text: 'sign in', ofMessage }] });
    const asked = (await play(turn('x'))).at(-1);
    const status = asked && 'statusUpdate' in asked ? asked.statusUpdate.status : undefined;
    expect(status?.message).toMatchObject({ parts: [{ text: 'sign in' }], metadata: { urgency: 1 } });
    const artifact = { description: 'of it', metadata: { pages: 2, 'parley/x': 1 }, extensions: [FEATURE] };
    agent.next({ steps: [{ artifact: { ...artifact, parts: [{ text: 'answer' }] } }, completed] });
    const answered = (await play(turn('x'))).find((event) => 'artifactUpdate' in event);
    expect(answered && 'artifactUpdate' in answered ? answered.artifactUpdate.artifact : {}).toEqual({
      artifactId: 'ext',
      name: 'ext',
      description: 'of it',
      metadata: { pages: 2 },
      extensions: [FEATURE],
      parts: [{ text: 'answer', mediaType: 'text/plain' }],
    });
  });

  it('is completed after a crash, however much of it is recorded', async () => {
    agent.always({ steps: [working('first'), { artifact: { parts: [{ text: 'answer' }] } }, completed] });
    const context = turn('x');
    const recorded = (await play(context)).slice(0, 2);
    for (const more of [1, 2, 5]) {
      const said = Array.from({ length: more }, (_, index) => statusUpdate(context, 'TASK_STATE_WORKING', `${index}`));
      const log = [...recorded, ...said];
      const events = await play({ ...context, recovered: log.length, readTaskLog: async () => log });
      expect(outline(events).slice(-2)).toEqual(['artifact', 'completed']);
      expect(artifactParts(events)).toEqual([{ text: 'answer', mediaType: 'text/plain' }]);
      expect(events.some((event) => 'statusUpdate' in event && remoteOf(event.statusUpdate.metadata))).toBe(false);
    }
    expect(agent.sends).toHaveLength(1);
  });
});

function remoteOf(metadata: JsonObject | undefined): boolean {
  return metadata?.['parley/remote'] !== undefined;
}
