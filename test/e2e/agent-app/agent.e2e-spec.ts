import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCard } from '#libs/protocol';
import { getTask, rest, rpc, sendParams, sendTask } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { FakeLlm } from '../../support/fake-llm.js';
import { GrpcWire } from '../../support/grpc-wire.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { sendRaw } from '../../support/raw-request.js';
import { before, until } from '../../support/until.js';
import { WebhookReceiver } from '../../support/webhook-receiver.js';
import { AgentProcess, callsIn } from './agent-process.js';

describe('the stand-alone agent', () => {
  let database: TestDatabase;
  let folder: string;
  const running: AgentProcess[] = [];

  beforeAll(async () => {
    database = await freshDatabase();
    folder = mkdtempSync(join(tmpdir(), 'parley-agent-'));
  });

  afterEach(async () => {
    for (const agent of running.splice(0)) await agent.signal('SIGKILL');
  });

  afterAll(async () => {
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(...args: string[]): AgentProcess {
    const agent = AgentProcess.spawn(args, database.url);
    running.push(agent);
    return agent;
  }

  function scriptFile(name: string, steps: object[]): string {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify({ rules: [], otherwise: steps }));
    return file;
  }

  it('asks who calls where AUTH_MODE says so, and shows its card to everyone', async () => {
    const ann = testCaller('ann');
    const args = ['--script', scriptFile('guarded', [{ echo: true }, { complete: 'done' }])];
    const agent = AgentProcess.spawn(args, database.url, apiKeyEnv(ann));
    running.push(agent);
    const url = await agent.ready();
    const card = await rest<AgentCard>(url, 'GET', '/.well-known/agent-card.json');
    expect(card.body.securityRequirements).toHaveLength(2);
    expect((await rpc(`${url}/a2a`, 'ListTasks', {})).status).toBe(401);
    expect((await fetch(`${url}/nothing`)).status).toBe(401);
    const task = await sendTask(`${url}/a2a`, 'say it', { headers: ann.headers });
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('say it');
  });

  it('serves no page of somebody else, and no host that is not its own', async () => {
    const url = await start('--script', scriptFile('alone', [{ complete: 'done' }])).ready();
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const body = JSON.stringify({ message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } });
    const send = async (more: Record<string, string>): Promise<number> =>
      (await sendRaw(url, { method: 'POST', target: '/a2a/message:send', headers: { ...headers, ...more }, body }))
        .status;
    expect(await send({ origin: 'https://evil.example' })).toBe(403);
    expect(await send({ host: 'evil.example' })).toBe(421);
    expect(await send({})).toBe(200);
  });

  it('knows the limits of the service, and the pages that may call it', async () => {
    const origin = 'https://app.example';
    const args = ['--script', scriptFile('limited', [{ complete: 'done' }])];
    const limits = { CORS_ORIGINS: origin, REQUEST_TIMEOUT: '1', JSON_MEMBERS_LIMIT: '50' };
    const agent = AgentProcess.spawn(args, database.url, limits);
    running.push(agent);
    const url = await agent.ready();
    const card = await fetch(`${url}/a2a/.well-known/agent-card.json`, { headers: { origin } });
    expect(card.headers.get('access-control-allow-origin')).toBe(origin);
    const large = await rpc(`${url}/a2a`, 'SendMessage', sendParams('hi', { metadata: { many: Array(60).fill(0) } }));
    expect(large.body.error?.message).toContain('has more than 50 members and elements (JSON_MEMBERS_LIMIT)');
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let answered = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answered += text));
    socket.write(
      'POST /a2a HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    await before(once(socket, 'close'), { what: 'the end of a request that does not come' });
    expect(answered).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('serves one scripted agent, writes a line per call, and ends with 0 on SIGTERM', async () => {
    const calls = join(folder, 'echoing.jsonl');
    const agent = start('--script', scriptFile('echoing', [{ echo: true }, { complete: 'done' }]), '--call-log', calls);
    const url = await agent.ready();

    const card = await rest<AgentCard>(url, 'GET', '/.well-known/agent-card.json');
    expect(card.body.name).toBe('echoing');
    expect(card.body.supportedInterfaces.map((it) => it.url)).toEqual(Array(4).fill(`${url}/a2a`));

    const task = await sendTask(`${url}/a2a`, 'say it', { fields: { messageId: 'm-1' } });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('say it');
    expect(callsIn(calls)).toEqual([{ messageId: 'm-1', taskId: task.id, text: 'say it', at: expect.any(String) }]);

    expect(await agent.signal('SIGTERM')).toBe(0);
  });

  it('is what its script declares', async () => {
    const file = join(folder, 'declared.json');
    writeFileSync(
      file,
      JSON.stringify({
        agent: { inputModes: ['image/*'], streaming: false },
        otherwise: [{ echo: true }, { complete: 'seen' }],
      }),
    );
    const url = await start('--script', file).ready();
    const card = await rest<AgentCard>(url, 'GET', '/.well-known/agent-card.json');
    expect(card.body).toMatchObject({
      defaultInputModes: ['image/*'],
      capabilities: { streaming: false, pushNotifications: true },
    });
    const parts = [{ raw: 'aGk=', mediaType: 'image/png' }];
    expect((await sendTask(`${url}/a2a`, parts)).artifacts?.[0]?.parts).toEqual(parts);
    const streamed = await rpc(`${url}/a2a`, 'SendStreamingMessage', sendParams(parts));
    expect(streamed.body.error).toMatchObject({ code: -32004 });
  });

  it('notifies webhooks', async () => {
    const hook = await WebhookReceiver.start();
    try {
      const url = await start('--script', scriptFile('pushing', [{ echo: true }, { complete: 'done' }])).ready();
      const configuration = { taskPushNotificationConfig: { url: hook.url, token: 'tok' } };
      await sendTask(`${url}/a2a`, 'go', { configuration });
      await hook.ended();
      expect(hook.story.at(-1)).toBe('TASK_STATE_COMPLETED');
      expect(hook.accepted[0]?.headers['x-a2a-notification-token']).toBe('tok');
      expect((await fetch(`${url}/api/deliveries`)).status).toBe(404);
    } finally {
      await hook.stop();
    }
  });

  it('listens on GRPC_PORT, and says so in its card', async () => {
    const args = ['--script', scriptFile('over-grpc', [{ echo: true }, { complete: 'done' }])];
    const agent = AgentProcess.spawn(args, database.url, { GRPC_PORT: '0' });
    running.push(agent);
    const url = await agent.ready();
    const { body } = await rest<AgentCard>(url, 'GET', '/.well-known/agent-card.json');
    const grpc = body.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url ?? '';
    const { result } = await new GrpcWire(() => ({ url, grpc })).call('', 'SendMessage', sendParams('over the wire'));
    expect(result).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'over the wire' }] }] } });
  });

  it('answers directly where the script replies, and logs that too', async () => {
    const calls = join(folder, 'replying.jsonl');
    const agent = start('--script', scriptFile('replying', [{ reply: [{ text: 'hello' }] }]), '--call-log', calls);
    const { body } = await rpc<{ message: { parts: { text: string }[] } }>(
      `${await agent.ready()}/a2a`,
      'SendMessage',
      {
        message: { messageId: 'm-2', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
      },
    );
    expect(body.result?.message.parts[0]?.text).toBe('hello');
    expect(callsIn(calls)).toEqual([{ messageId: 'm-2', text: 'hi', at: expect.any(String) }]);
  });

  it('answers with the echo model where no endpoint is configured', async () => {
    const agent = start('--llm', '--name', 'writer');
    const task = await sendTask(`${await agent.ready()}/a2a`, 'a line of verse');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('a line of verse');
  });

  it('tells the model what was said before in the context, and nothing of another one', async () => {
    const llm = await FakeLlm.start();
    try {
      const env = { LLM_BASE_URL: llm.url, LLM_MODEL: 'm', LLM_API_KEY: 'k' };
      const agent = AgentProcess.spawn(['--llm', '--name', 'rememberer'], database.url, env);
      running.push(agent);
      const url = `${await agent.ready()}/a2a`;
      llm.answer = () => 'Hello Ann';
      const first = await sendTask(url, 'I am Ann');
      expect(first.status.state).toBe('TASK_STATE_COMPLETED');
      llm.answer = () => 'You are Ann';
      const second = await sendTask(url, 'Who am I?', { fields: { contextId: first.contextId } });
      expect([second.contextId, second.id === first.id]).toEqual([first.contextId, false]);
      expect(second.artifacts?.[0]?.parts[0]?.text).toBe('You are Ann');
      await sendTask(url, 'Who am I here?');
      const heard = llm.calls.map(({ body }) =>
        (body['messages'] as { role: string; content: string }[])
          .filter(({ role }) => role !== 'system')
          .map(({ role, content }) => `${role}: ${content}`),
      );
      expect(heard).toEqual([
        ['user: I am Ann'],
        ['user: I am Ann', 'assistant: Hello Ann', 'user: Who am I?'],
        ['user: Who am I here?'],
      ]);
    } finally {
      await llm.stop();
    }
  });

  it('goes on with a Task that kill -9 cut, and never loses it', async () => {
    const begun = { status: 'working', text: 'begun' };
    const script = scriptFile('slow', [begun, { sleep: 600_000 }]);
    const args = ['--script', script, '--call-log', join(folder, 'slow.jsonl')];
    const first = start(...args);
    const url = await first.ready();
    const { id } = await sendTask(`${url}/a2a`, 'carry this', { configuration: { returnImmediately: true } });
    await until(async () => (await getTask(`${url}/a2a`, id)).status.state === 'TASK_STATE_WORKING');
    await first.signal('SIGKILL');

    scriptFile('slow', [begun, { echo: true }, { complete: 'done' }]);
    const again = await start(...args).ready();
    const ended = await until(
      async () => {
        const task = await getTask(`${again}/a2a`, id);
        return task.status.state !== 'TASK_STATE_WORKING' && task;
      },
      { what: 'the Task to end' },
    );
    expect(ended.status.state).toBe('TASK_STATE_COMPLETED');
    expect(ended.artifacts).toHaveLength(1);
    expect(callsIn(join(folder, 'slow.jsonl')).map((call) => call.recovered)).toEqual([undefined, expect.any(Number)]);
  });

  it('refuses a script that cannot be used with sentences, not a stack', async () => {
    const agent = start('--script', scriptFile('wrong', [{ sleeep: 1 }]));
    expect(await agent.ended()).toBe(1);
    expect(agent.output).toContain('wrong.json: ');
    expect(agent.output).not.toMatch(/\n\s+at /);
  });
});
