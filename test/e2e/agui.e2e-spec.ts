import type { JsonObject } from '#libs/protocol';
import { AguiTalk, CLIENTS, interruptsOf, typesOf } from '../support/agui.js';
import { useSharedStage } from '../support/shared-stage.js';
import { SseReader } from '../support/sse.js';
import { echo, input, linear, output, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
const [greeting, fails, both, slow] = ['greet', 'fails', 'both', 'slow'].map(unique) as [
  string,
  string,
  string,
  string,
];
const FORM = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

const at = (workflow: string): string => `${stage.parley.url}/agui/workflows/${workflow}`;

beforeAll(async () => {
  const { api } = stage;
  await api.save({
    ...linear(greeting, input('topic'), echo('w', { prompt: 'Hello {{topic}}' }), output('out')),
    description: 'Greets',
  });
  await api.save(linear(fails, script('f', { fail: 'no luck' })));
  await api.save(
    linear(slow, script('s', { status: 'working', text: 'on it' }, { sleep: 60_000 }, { complete: 'late' })),
  );
  await api.save({
    name: both,
    nodes: [
      { id: 'left', type: 'human', config: { prompt: 'Left?', form: FORM } },
      { id: 'right', type: 'human', config: { prompt: 'Right?' } },
      { ...output('out'), config: { prompt: 'left {{left}}, right {{right}}' } },
    ],
    edges: ['left', 'right'].map((from) => ({ from, to: 'out' })),
  });
});

describe.each(CLIENTS)('the official client %s', (version, Client) => {
  it('runs a workflow, and shows its text once', async () => {
    const talk = new AguiTalk(Client, at(greeting));
    const events = await talk.run('Ada');
    expect(talk.texts).toEqual(['Hello Ada']);
    expect(events.at(0)).toMatchObject({ type: 'RUN_STARTED', threadId: talk.agent.threadId });
    expect(events.at(0)?.['protocolVersion']).toBe(version === '1.0.0' ? '1.0' : undefined);
    expect(events.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'success' },
      result: { out: 'Hello Ada' },
    });
    expect(talk.agent.state).toMatchObject({
      parley: { status: 'completed', contextId: talk.agent.threadId, nodes: { topic: 'completed', w: 'completed' } },
    });
  });

  it('keeps the conversation in one context', async () => {
    const talk = new AguiTalk(Client, at(greeting));
    await talk.run('Ada');
    await talk.run('Bob');
    expect(talk.texts).toEqual(['Hello Ada', 'Hello Bob']);
    const rows = await stage.database.query<{ agent: string }>('SELECT agent FROM task WHERE context_id = $1', [
      talk.agent.threadId,
    ]);
    expect(rows.filter(({ agent }) => agent === `workflows/${greeting}`)).toHaveLength(2);
  });

  it('reports a failed run as RUN_ERROR', async () => {
    const talk = new AguiTalk(Client, at(fails));
    await talk.run('x').catch(() => undefined);
    expect(talk.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('no luck') });
    expect(talk.events.at(-1)?.['code']).toEqual(expect.any(String));
  });

  it('gets two open questions as interrupts, and its answers end the run', async () => {
    const talk = new AguiTalk(Client, at(both));
    const asked = byMessage(interruptsOf(await talk.run('go')));
    expect(asked).toEqual([
      expect.objectContaining({ reason: 'input_required', message: 'Left?', responseSchema: FORM }),
      expect.objectContaining({ reason: 'input_required', message: 'Right?' }),
    ]);
    const resume = asked.map(({ id }, index) => {
      return { interruptId: id!, status: 'resolved', payload: index === 0 ? { ok: true } : 'yes' };
    });
    const events = await talk.run(undefined, { resume });
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(talk.texts.at(-1)).toBe('left {"ok":true}, right yes');
    expect(talk.agent.state).toMatchObject({ parley: { nodes: { left: 'completed', right: 'completed' } } });
  });

  it('answers under the name of the run that asked, as CopilotKit does, and again gets the same', async () => {
    const talk = new AguiTalk(Client, at(both));
    const { threadId } = talk.agent;
    const asked = interruptsOf(await talk.run('go', { runId: 'r1' }));
    const resume = asked.map(({ id }) => ({ interruptId: id!, status: 'resolved', payload: { ok: true } }));
    const answer = { threadId, runId: 'r1', protocolVersion: '1.0', messages: [], resume };
    const first = await framesOf(at(both), { method: 'POST', body: answer });
    expect(first.at(-1)?.[1]).toContain('"outcome":{"type":"success"}');
    expect(await framesOf(at(both), { method: 'POST', body: answer })).toEqual(first);
    const later = { ...answer, runId: 'r2' };
    expect((await post(both, later)).status).toBe(409);
  });

  it('shows each text once after a stream that was cut, if it sends the same run again', async () => {
    let cuts = 0;
    const cutting: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      cuts += 1;
      return cuts > 1
        ? response
        : new Response(ReadableStream.from(untilText(response)), { headers: response.headers });
    };
    const talk = new AguiTalk(Client, at(greeting), { fetch: cutting });
    await talk.run('Ada', { runId: 'r1' }).catch(() => undefined);
    expect(talk.texts).toEqual(['Hello Ada']);
    expect(talk.events.at(-1)?.type).toBe('TEXT_MESSAGE_CONTENT');
    const events = await talk.run(undefined, { runId: 'r1' });
    expect(events.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT');
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(talk.texts).toEqual(['Hello Ada']);
    expect(talk.agent.messages).toHaveLength(2);
  });

  it('asks again what a new message does not answer, and cancels a run whose questions are refused', async () => {
    const talk = new AguiTalk(Client, at(both));
    const { threadId } = talk.agent;
    const asked = interruptsOf(await talk.run('go'));
    const other = new AguiTalk(Client, at(both), { threadId });
    expect(interruptsOf(await other.run('and now?'))).toEqual(asked);
    const resume = asked.map(({ id }) => ({ interruptId: id!, status: 'cancelled' }));
    await talk.run(undefined, { resume }).catch(() => undefined);
    const end = talk.events.at(-1);
    if (version === '1.0.0') expect(end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    else expect(end).toMatchObject({ type: 'RUN_ERROR', code: 'cancelled' });
  });
});

const byMessage = (interrupts: JsonObject[]): JsonObject[] =>
  interrupts.toSorted((a, b) => String(a['message']).localeCompare(String(b['message'])));

/** Yields the beginning of a stream, up to the first piece of a text. */
async function* untilText({ body }: Response): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    text += chunk;
    const piece = text.indexOf('"TEXT_MESSAGE_CONTENT"');
    const end = piece < 0 ? -1 : text.indexOf('\n\n', piece);
    if (end >= 0) return yield new TextEncoder().encode(text.slice(0, end + 2));
  }
}

const inputOf = (more: JsonObject = {}): JsonObject => ({
  threadId: unique('thread'),
  runId: unique('run'),
  protocolVersion: '1.0',
  messages: [{ id: 'u1', role: 'user', content: 'Ada' }],
  ...more,
});

const post = (workflow: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(at(workflow), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

async function framesOf(url: string, request: Parameters<typeof SseReader.open>[1]): Promise<[string?, string?][]> {
  const reader = await SseReader.open<{ type: string }>(url, request);
  while (await reader.next());
  return reader.frames.map(({ id, raw }) => [id, raw]);
}

describe('a run', () => {
  it.each<[JsonObject, string]>([
    [{ threadId: undefined as never }, 'threadId: is required'],
    [{ runId: 7 }, 'runId: must be a string'],
    [{ messages: {} }, 'messages: must be a list'],
    [{ messages: [{ id: 'a', role: 'king', content: '' }] }, 'messages[0].role: must be one of'],
    [{ messages: [{ id: 'a', role: 'user' }] }, 'messages[0].content: is required'],
    [{ resume: [{ interruptId: 'x', status: 'maybe' }] }, 'resume[0].status: must be "resolved" or "cancelled"'],
    [{ resume: [{ interruptId: 'x', status: 'resolved' }] }, 'resume[0].payload: is required'],
    [{ context: [{ description: 'd' }] }, 'context[0].value: is required'],
  ])('with %j is refused before anything is written', async (more, detail) => {
    const body = inputOf(more);
    const response = await post(greeting, body);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect((await response.json()) as JsonObject).toMatchObject({ detail: expect.stringContaining(detail) });
    const rows = await stage.database.query('SELECT 1 FROM task WHERE context_id = $1', [String(body['threadId'])]);
    expect(rows).toEqual([]);
  });

  it('of an unknown workflow or agent is 404, and other methods are 405', async () => {
    for (const path of ['workflows/nothing', 'agents/nothing', 'workflows/a%2Fb']) {
      const response = await fetch(`${stage.parley.url}/agui/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(inputOf()),
      });
      expect([path, response.status]).toEqual([path, 404]);
    }
    const response = await fetch(at(greeting), { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  it('takes the inputs of its workflow from the state or the forwarded properties', async () => {
    const sources: JsonObject[] = [
      { state: { topic: 'Eve', other: 1 } },
      { state: {}, forwardedProps: { topic: 'Eve' } },
    ];
    for (const given of sources) {
      const frames = await framesOf(at(greeting), { method: 'POST', body: inputOf({ messages: [], ...given }) });
      expect(frames.at(-1)?.[1]).toContain('"result":{"out":"Hello Eve"}');
    }
  });

  it('is the same run under the same name, from any event on', async () => {
    const body = inputOf();
    const { threadId, runId } = body as { threadId: string; runId: string };
    const all = await framesOf(at(greeting), { method: 'POST', body });
    expect(await framesOf(at(greeting), { method: 'POST', body })).toEqual(all);
    const follow = `${at(greeting)}/threads/${threadId}/runs/${runId}`;
    for (const [index, [id]] of all.entries()) {
      const rest = all.slice(index + 1);
      expect(await framesOf(at(greeting), { method: 'POST', body, lastEventId: id! })).toEqual(rest);
      expect(await framesOf(`${follow}?protocolVersion=1.0&since=${id}`, {})).toEqual(rest);
    }
    const rows = await stage.database.query('SELECT 1 FROM task WHERE context_id = $1 AND agent = $2', [
      threadId,
      `workflows/${greeting}`,
    ]);
    expect(rows).toHaveLength(1);
    const other = await post(greeting, { ...body, messages: [{ id: 'u1', role: 'user', content: 'Bob' }] });
    expect([other.status, await other.json()]).toEqual([
      409,
      expect.objectContaining({ reason: 'IDEMPOTENCY_CONFLICT' }),
    ]);
    for (const [cursor, status] of [
      ['x', 400],
      ['0.0', 400],
      ['999.0', 400],
    ] as const)
      expect((await post(greeting, body, { 'last-event-id': cursor })).status).toBe(status);
    expect((await fetch(`${follow}x`)).status).toBe(404);
  });

  it('goes on when its client leaves, and is canceled by its name', async () => {
    const body = inputOf();
    const reader = await SseReader.open<{ type: string }>(at(slow), { method: 'POST', body });
    while ((await reader.next())?.data.type !== 'STEP_STARTED');
    reader.abort();
    const run = `${at(slow)}/threads/${String(body['threadId'])}/runs/${String(body['runId'])}`;
    const canceled = await fetch(`${run}/cancel`, { method: 'POST' });
    expect([canceled.status, await canceled.json()]).toEqual([
      200,
      { taskId: expect.any(String), state: 'TASK_STATE_CANCELED' },
    ]);
    const frames = await framesOf(`${run}?protocolVersion=1.0`, {});
    expect(frames.at(-1)?.[1]).toContain('"outcome":{"type":"cancelled"}');
    const early = await framesOf(run, {});
    expect(early.at(-1)?.[1]).toContain('"code":"cancelled"');
    expect((await fetch(`${run}/cancel`, { method: 'POST' })).status).toBe(409);
  });

  it('is described before it begins', async () => {
    const response = await fetch(at(greeting));
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({
        identity: expect.objectContaining({ name: greeting, description: 'Greets' }),
        transport: expect.objectContaining({ streaming: true, resumable: true }),
      }),
    ]);
  });

  it('sends each kind of event in an order that clients accept', async () => {
    const talk = new AguiTalk(CLIENTS[0][1], at(greeting));
    const events = typesOf(await talk.run('Ada')).filter((it) => it !== 'STATE_DELTA');
    expect(events).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'STEP_FINISHED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'STEP_STARTED',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
  });
});
