import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCard, JsonObject, StreamResponse, Task } from '#libs/protocol';
import { rest, rpc, sendParams, sendTask } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { bindingsOf } from '../../support/bindings.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { sendRaw } from '../../support/raw-request.js';
import { before, until } from '../../support/until.js';
import { WebhookReceiver } from '../../support/webhook-receiver.js';
import type { Endpoints } from '../../support/wire-binding.js';
import { AgentProcess } from './agent-process.js';

/** Does what its Message asks for, one word each. */
const OBLIGING = `
import { defineAgent, type WorkContext } from 'parley-a2a/agent';

export default defineAgent({
  name: 'obliging',
  description: 'Does what it is told',
  async *run(ctx: WorkContext) {
    if (ctx.text === 'parts') yield ctx.artifact('parts', { parts: ctx.message.parts });
    if (ctx.text === 'ask') yield \`you said \${await ctx.ask('more?')}\`;
    if (ctx.text === 'reject') return ctx.reject('not today');
    if (ctx.text === 'throw') throw new Error('an internal matter');
    if (ctx.text === 'wait') await new Promise((_, no) => ctx.signal.addEventListener('abort', no));
    yield 'a ';
    yield 'text';
    return { said: ctx.data ?? null };
  },
});
`;

/** Writes down what it does, and goes on where a file says so. */
const NOTING = `
import { appendFileSync, existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { defineAgent } from 'parley-a2a/agent';

const folder = process.env['NOTES'];
const note = (line) => appendFileSync(join(folder, 'notes'), line + '\\n');
const gate = async (name) => {
  note('at ' + name);
  while (!existsSync(join(folder, name))) await new Promise((go) => setTimeout(go, 20));
};

export default defineAgent({
  name: 'noting',
  async *run(ctx) {
    const price = await ctx.step('look', () => (note('look'), 7));
    await gate('between');
    await ctx.step('charge', async ({ idempotencyKey }) => (note('charge ' + idempotencyKey), gate('in-step')));
    const answer = await ctx.ask('Ship it?');
    await gate('after-answer');
    await ctx.step('ship', () => note('ship'));
    yield price + ' ' + answer;
  },
});
`;

const databases: TestDatabase[] = [];
let database: TestDatabase;
let folder: string;
const running: AgentProcess[] = [];

beforeAll(async () => {
  database = await newDatabase();
  folder = mkdtempSync(join(tmpdir(), 'parley-defined-'));
});

afterAll(async () => {
  for (const agent of running) await agent.signal('SIGKILL');
  for (const it of databases) await it.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function newDatabase(): Promise<TestDatabase> {
  const made = await freshDatabase();
  databases.push(made);
  return made;
}

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function start(file: string, env: Record<string, string> = {}, { url } = database): AgentProcess {
  const agent = AgentProcess.spawn(['serve', file], url, env);
  running.push(agent);
  return agent;
}

describe('an agent that its author defined', () => {
  const endpoints: Endpoints = { url: '', grpc: '' };
  const bindings = bindingsOf(() => endpoints);

  beforeAll(async () => {
    endpoints.url = await start(fileOf('obliging.ts', OBLIGING), { GRPC_PORT: '0' }).ready();
    const { body } = await rest<AgentCard>(endpoints.url, 'GET', '/.well-known/agent-card.json');
    expect(body).toMatchObject({ name: 'obliging', description: 'Does what it is told', version: '0.1.0' });
    expect(body.skills).toMatchObject([{ id: 'obliging', name: 'obliging' }]);
    endpoints.grpc = body.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
  });

  describe.each(bindings.map((it) => [it.name, it] as const))('over %s', (_, binding) => {
    const send = async (content: Parameters<typeof sendParams>[0], taskId?: string): Promise<Task> => {
      const params = sendParams(content, taskId === undefined ? {} : { fields: { taskId } });
      const { result, error } = await binding.call<{ task: Task }>('', 'SendMessage', params);
      if (!result) throw new Error(JSON.stringify(error));
      return result.task;
    };

    it('ends its Task, with its text and its value', async () => {
      const task = await send([{ data: { n: 1 } }]);
      expect(task).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ artifactId: 'obliging', name: 'obliging' }],
      });
      expect(answerOf(task)).toEqual(['a text', { said: { n: 1 } }]);
    });

    it('asks, and goes on with the answer', async () => {
      const asked = await send('ask');
      expect(asked.status).toMatchObject({
        state: 'TASK_STATE_INPUT_REQUIRED',
        message: { parts: [{ text: 'more?' }] },
      });
      const { id, contextId, status, artifacts } = await send('a word', asked.id);
      expect({ id, contextId, state: status.state }).toEqual({
        id: asked.id,
        contextId: asked.contextId,
        state: 'TASK_STATE_COMPLETED',
      });
      expect(answerOf({ artifacts })).toEqual(['you said a worda text', { said: null }]);
    });

    it('rejects, and fails without a word of what is internal', async () => {
      expect((await send('reject')).status).toMatchObject({
        state: 'TASK_STATE_REJECTED',
        message: { parts: [{ text: 'not today' }] },
      });
      const failed = await send('throw');
      expect(failed.status.state).toBe('TASK_STATE_FAILED');
      expect(JSON.stringify(failed)).not.toContain('internal matter');
    });

    it('takes every kind of Part', async () => {
      const parts = [
        { text: 'parts' },
        { data: { deep: [1.5, null] }, mediaType: 'application/json' },
        { raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' },
      ];
      const { artifacts } = await send(parts);
      expect(artifacts?.find(({ name }) => name === 'parts')?.parts).toEqual(parts);
    });

    it('streams, is followed by others, and is canceled', async () => {
      const { items } = await binding.open('', 'SendStreamingMessage', sendParams('wait'));
      const reader = items[Symbol.asyncIterator]();
      const { value: first } = (await reader.next()) as { value: { task: Task } };
      const { id } = first.task;
      const others = await binding.open('', 'SubscribeToTask', { id });
      const canceled = await binding.call<Task>('', 'CancelTask', { id });
      expect(canceled.result?.status.state).toBe('TASK_STATE_CANCELED');
      for (const stream of [{ [Symbol.asyncIterator]: () => reader }, others.items]) {
        const states = (await allOf(stream)).flatMap(
          (it) => ('statusUpdate' in it && it.statusUpdate.status.state) || [],
        );
        expect(states.at(-1)).toBe('TASK_STATE_CANCELED');
      }
      const { result } = await binding.call<{ tasks: Task[] }>('', 'ListTasks', { status: 'TASK_STATE_CANCELED' });
      expect(result?.tasks.map((task) => task.id)).toContain(id);
    });
  });

  it('refuses what it does not take, and serves no page of somebody else', async () => {
    const image = await rpc(
      `${endpoints.url}/a2a`,
      'SendMessage',
      sendParams([{ raw: 'aGk=', mediaType: 'image/png' }]),
    );
    expect(image.body.error).toMatchObject({ code: -32005 });
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', origin: 'https://evil.example' };
    const body = JSON.stringify(sendParams('hi'));
    expect((await sendRaw(endpoints.url, { method: 'POST', target: '/a2a/message:send', headers, body })).status).toBe(
      403,
    );
  });

  it('notifies webhooks', async () => {
    const hook = await WebhookReceiver.start();
    try {
      const configuration = { taskPushNotificationConfig: { url: hook.url, token: 'tok' } };
      await sendTask(`${endpoints.url}/a2a`, 'go', { configuration });
      await hook.ended();
      expect(hook.story.at(-1)).toBe('TASK_STATE_COMPLETED');
    } finally {
      await hook.stop();
    }
  });
});

describe('an agent that is killed', () => {
  /** An agent that shared it would go on with the Task. */
  let own: TestDatabase;
  beforeAll(async () => {
    own = await newDatabase();
  });
  const notes = (): string[] => {
    const file = join(folder, 'notes');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  };
  const reached = (gate: string, times = 1): Promise<true> =>
    until(() => notes().filter((it) => it === `at ${gate}`).length >= times, { what: `the agent at ${gate}` });

  it('between steps and in one does what it has done once, and what was cut once more', async () => {
    const ann = testCaller('ann');
    const file = fileOf('noting.mjs', NOTING);
    const begin = (): AgentProcess => start(file, { NOTES: folder, ...apiKeyEnv(ann) }, own);
    let agent = begin();
    let url = `${await agent.ready()}/a2a`;
    const call = async <T>(method: string, params: JsonObject): Promise<T> => {
      const { body } = await rpc<T>(url, method, params, ann);
      if (body.result === undefined) throw new Error(JSON.stringify(body));
      return body.result;
    };
    const say = (text: string, fields = {}): Promise<{ task: Task }> =>
      call('SendMessage', sendParams(text, { fields, configuration: { returnImmediately: true } }));
    const killedAt = async (gate: string): Promise<void> => {
      await reached(gate);
      await agent.signal('SIGKILL');
      agent = begin();
      url = `${await agent.ready()}/a2a`;
      await reached(gate, 2);
      writeFileSync(join(folder, gate), '');
    };
    expect((await rpc(url, 'ListTasks', {})).status).toBe(401);
    const { id } = (await say('go')).task;
    const inState = (state: string): Promise<Task> =>
      until(
        async () => {
          const task = await call<Task>('GetTask', { id });
          return task.status.state === state && task;
        },
        { what: state },
      );
    await killedAt('between');
    await killedAt('in-step');
    await inState('TASK_STATE_INPUT_REQUIRED');
    await say('yes', { taskId: id });
    await killedAt('after-answer');
    expect(answerOf(await inState('TASK_STATE_COMPLETED'))).toEqual(['7 yes']);
    const done = notes().filter((it) => !it.startsWith('at '));
    // The step that was cut is made again, under the same key; no other is.
    expect(done.map((it) => it.split(' ')[0])).toEqual(['look', 'charge', 'charge', 'ship']);
    expect(new Set(done).size).toBe(3);
  });

  it('goes on in the folder of its own database', async () => {
    const file = fileOf(
      'embedded.ts',
      `import { defineAgent } from 'parley-a2a/agent';
export default defineAgent({
  name: 'embedded',
  run: async (ctx) => \`\${await ctx.step('pid', () => process.pid)} \${await ctx.ask('who?')}\`,
});`,
    );
    const args = ['--data-dir', join(folder, 'data')];
    const first = AgentProcess.spawn(['serve', file, ...args], '');
    running.push(first);
    const asked = await sendTask(`${await first.ready()}/a2a`, 'go');
    await first.signal('SIGKILL');
    const second = AgentProcess.spawn(['serve', file, ...args], '');
    running.push(second);
    const task = await sendTask(`${await second.ready()}/a2a`, 'me', { fields: { taskId: asked.id } });
    const [text] = answerOf(task);
    expect(text).toMatch(/^\d+ me$/);
    expect(await second.signal('SIGTERM')).toBe(0);
  });
});

describe('a file that is no agent', () => {
  it.each([
    ['exports something else', 'export default 3;', /nothing\.ts must export the result of defineAgent/],
    [
      'has a wrong name',
      `import { defineAgent } from 'parley-a2a/agent'; defineAgent({ name: 'a b' });`,
      /name must be/,
    ],
  ])('is refused with a sentence where it %s', async (_, text, sentence) => {
    const agent = start(fileOf('nothing.ts', text));
    expect(await before(agent.ended(), { what: 'the refusal' })).toBe(1);
    expect(agent.output).toMatch(sentence);
    expect(agent.output).not.toMatch(/\n\s+at /);
  });
});

async function allOf(items: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const seen: StreamResponse[] = [];
  for await (const item of items) seen.push(item);
  return seen;
}

/** The text and the data of the first Artifact. */
function answerOf({ artifacts = [] }: Pick<Task, 'artifacts'>): unknown[] {
  const parts = artifacts[0]?.parts ?? [];
  const text = parts.map((part) => part.text ?? '').join('');
  return [text, ...parts.flatMap(({ data }) => data ?? [])];
}
