import type { JsonObject } from '#libs/protocol';
import { AguiTalk, CLIENTS, interruptsOf } from '../support/agui.js';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { SseReader } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { Api, echo, linear, script, unique } from '../support/workflow.js';

const llm = await FakeLlm.start();
const limits = { STREAM_LIMIT: '4', BODY_LIMIT: '100kb', LLM_BASE_URL: llm.url, LLM_MODEL: 'house' };
const stage = useStage({ env: { ...KNOWS_CALLERS.env, ...limits } });
const { headers } = ANN;
const [asks, slow] = ['asks', 'slow'].map(unique) as [string, string];

const at = (workflow: string): string => `${stage.parley.url}/agui/workflows/${workflow}`;
const runAt = (workflow: string, threadId: string, runId: string): string =>
  `${at(workflow)}/threads/${threadId}/runs/${runId}`;
const api = (): Api => new Api(stage.parley.url, headers);

beforeAll(async () => {
  stage.defer(() => llm.stop());
  await api().save(linear(asks, { id: 'q', type: 'human', config: { prompt: 'Which, Ann?' } }));
  await api().save(linear(slow, script('s', { status: 'working' }, { sleep: 60_000 }, { complete: 'late' })));
});

const inputOf = (more: JsonObject = {}): JsonObject => ({
  threadId: unique('thread'),
  runId: unique('run'),
  protocolVersion: '1.0',
  messages: [{ id: 'u1', role: 'user', content: 'go' }],
  ...more,
});

const post = (url: string, body: unknown, sent: Record<string, string> = headers): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...sent },
    body: JSON.stringify(body),
  });

/** Status and text of an answer, without what identifies the request. */
async function toldOf(response: Response): Promise<[number, string]> {
  return [
    response.status,
    (await response.text()).replace(/"requestId":"[^"]+"/, '').replaceAll(/[\w-]*\d[\w.-]*/g, ''),
  ];
}

describe.each(CLIENTS)('the official client %s', (_version, Client) => {
  const talkTo = (url: string): AguiTalk => new AguiTalk(Client, url, { headers });

  it('shows the tool calls of a model, and what the tools returned', async () => {
    llm.answer = (body: JsonObject): FakeAnswer => {
      const last = (body['messages'] as unknown as { role: string; content: string }[]).at(-1);
      if (last?.role === 'tool') return { text: `It is ${last.content}`, usage: { input: 3, output: 4 } };
      return { toolCalls: [{ id: 'c1', name: 'calculator', args: { expression: '6 * 7' } }] };
    };
    const { name } = await api().save(linear(unique('tools'), echo('a', { prompt: 'What?', tools: ['calculator'] })));
    const talk = talkTo(at(name));
    const events = await talk.run('go');
    const [call] = talk.agent.messages.filter(({ role }) => role === 'assistant');
    expect(call).toMatchObject({
      toolCalls: [{ function: { name: 'calculator', arguments: '{"expression":"6 * 7"}' } }],
    });
    expect(talk.agent.messages.filter(({ role }) => role === 'tool')).toEqual([
      expect.objectContaining({ content: '42' }),
    ]);
    expect(talk.texts).toEqual(['It is 42']);
    expect(events.at(-1)?.['usage']).toEqual([{ model: 'house', inputTokens: 4, outputTokens: 6, totalTokens: 10 }]);
  });

  it('talks to a registered agent, and sends it files', async () => {
    const agent = await DoorAgent.start();
    stage.defer(() => agent.end());
    const { name } = await openDoor(stage.parley.url, agent.url, { policy: {} }, headers);
    const talk = talkTo(`${stage.parley.url}/agui/agents/${name}`);
    const value = Buffer.from('an image').toString('base64');
    talk.agent.addMessage({
      id: 'u1',
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', source: { type: 'data', value, mimeType: 'image/png' } },
        { type: 'document', source: { type: 'url', value: 'https://example.com/a.pdf', mimeType: 'application/pdf' } },
      ],
    });
    const events = await talk.run();
    expect(agent.heard[0]?.parts).toMatchObject([
      { text: 'hello' },
      { raw: value, mediaType: 'image/png' },
      { url: 'https://example.com/a.pdf', mediaType: 'application/pdf' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(talk.texts).toEqual(['hello', 'done']);
    const file = events.find(({ activityType }) => activityType === 'parley.artifact');
    expect(JSON.stringify(file?.['content'])).not.toContain(value);
  });
});

describe('a run of another caller', () => {
  it('is as unknown as one that nobody has begun, and so are its questions', async () => {
    const talk = new AguiTalk(CLIENTS[0][1], at(asks), { headers });
    const { threadId } = talk.agent;
    const [asked] = interruptsOf(await talk.run('go', { runId: 'r1' }));
    const nobodys = String(asked?.['id']).replace(/^.{8}/, '00000000');
    const answer = (interruptId: string): JsonObject =>
      inputOf({ threadId, messages: [], resume: [{ interruptId, status: 'resolved', payload: 'mine' }] });
    const cancel = (interruptId: string): JsonObject =>
      inputOf({ threadId, messages: [], resume: [{ interruptId, status: 'cancelled' }] });
    for (const bodyOf of [answer, cancel]) {
      const [hers, none] = [String(asked?.['id']), nobodys].map((id) => post(at(asks), bodyOf(id), EVE.headers));
      const told = await toldOf(await hers!);
      expect(told).toEqual(await toldOf(await none!));
      expect([told[0], told[1]]).toEqual([409, expect.stringContaining('INTERRUPT_NOT_OPEN')]);
    }
    for (const [method, more] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      const [hers, none] = ['r1', 'r0'].map((run) =>
        fetch(`${runAt(asks, threadId, run)}${more}`, { method, headers: EVE.headers }),
      );
      const told = await toldOf(await hers!);
      expect(told[0]).toBe(404);
      expect(told).toEqual(await toldOf(await none!));
    }
    const repeated = new AguiTalk(CLIENTS[0][1], at(asks), { headers, threadId });
    expect(interruptsOf(await repeated.run('still?'))).toEqual([asked]);
  });

  it('needs a key', async () => {
    const told = await post(at(asks), inputOf(), {});
    expect([told.status, told.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
    expect(told.headers.get('content-type')).toContain('application/problem+json');
  });
});

describe('an answer', () => {
  it('counts once; whoever is late is told that the question is not open, and the same run is told the same', async () => {
    const talk = new AguiTalk(CLIENTS[0][1], at(asks), { headers });
    const { threadId } = talk.agent;
    const [asked] = interruptsOf(await talk.run('go'));
    const answers = ['a', 'b', 'c'].map((payload) =>
      inputOf({ threadId, messages: [], resume: [{ interruptId: asked!['id']!, status: 'resolved', payload }] }),
    );
    const told = await Promise.all(answers.map(async (body) => toldOf(await post(at(asks), body))));
    const taken = told.filter(([status]) => status === 200);
    expect(taken).toHaveLength(1);
    for (const [status] of told.filter((it) => !taken.includes(it))) expect([409, 503]).toContain(status);
    const winner = answers[told.indexOf(taken[0]!)]!;
    expect(await toldOf(await post(at(asks), winner))).toEqual(taken[0]);
    const late = await post(at(asks), { ...winner, runId: unique('run') });
    expect([late.status, await late.json()]).toEqual([409, expect.objectContaining({ reason: 'INTERRUPT_NOT_OPEN' })]);
  });
});

describe('the limits of a caller', () => {
  it('hold for streams and bodies, in the form of a problem', async () => {
    const opening = [1, 2, 3, 4].map(() => SseReader.open(at(slow), { method: 'POST', body: inputOf(), headers }));
    const open = await Promise.all(opening);
    const fifth = await post(at(slow), inputOf());
    expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    expect(await fifth.json()).toMatchObject({ reason: 'RATE_LIMITED' });
    for (const reader of open) reader.abort();
    const large = await post(at(slow), inputOf({ state: 'x'.repeat(200_000) }));
    expect([large.status, large.headers.get('content-type')]).toEqual([
      413,
      expect.stringContaining('application/problem+json'),
    ]);
    const text = await fetch(at(slow), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(text.status).toBe(415);
    const broken = await fetch(at(slow), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{',
    });
    expect(broken.status).toBe(400);
  });
});
