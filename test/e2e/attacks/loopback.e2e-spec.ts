import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';
import { blamedFields, rpc, sendParams } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { FakeLlm } from '../../support/fake-llm.js';
import { startParley } from '../../support/parley.js';
import { SseReader } from '../../support/sse.js';
import { useStage } from '../../support/stage.js';
import {
  Api,
  echo,
  external,
  input,
  linear,
  output,
  says,
  script,
  unique,
  type WorkflowNode,
} from '../../support/workflow.js';

/** A service behind a proxy on its own machine: it listens on loopback, and its callers come from anywhere. */
const ann = testCaller('ann');
const env = { ...apiKeyEnv(ann), OUTBOUND_ALLOW: '' };
const stage = useStage({ env });
const HEADERS = { ...ann.headers, 'content-type': 'application/json' };
let api: Api;
let internal: Server;
let seen: string[];

beforeAll(async () => {
  api = new Api(stage.parley.url, ann.headers);
  internal = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"of the machine"}');
  });
  internal.listen(0, '127.0.0.1');
  await once(internal, 'listening');
});

afterAll(() => void internal?.close());
beforeEach(() => (seen = []));

const port = (): number => (internal.address() as AddressInfo).port;
const tool = (args: JsonObject): WorkflowNode => ({ id: 't', type: 'tool', config: { tool: 'http_get', args } });

describe('with authentication, nothing of this machine is called for a caller', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '127.1', '[::ffff:127.0.0.1]'])('at %s', async (host) => {
    const url = `http://${host}:${port()}/private`;
    const named = await api.finish(linear(unique('lo'), tool({ url })));
    expect(named).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('may not be called') } });
    expect((await api.finish(linear(unique('lo'), external('x', url)))).status).toBe('failed');
    expect(seen).toEqual([]);
  });

  it('not by the Message to a tool node, with or without an url of its own', async () => {
    const url = `http://127.0.0.1:${port()}/private`;
    for (const own of [{}, { url: 'http://parley.invalid/fixed' }] as JsonObject[]) {
      const { name } = await api.save(linear(unique('lo'), tool(own)));
      const params = sendParams([{ data: { url } }]);
      const { body } = await rpc(api.base(name, 't'), 'SendMessage', params, { headers: ann.headers });
      expect(JSON.stringify(body)).toContain('TASK_STATE_FAILED');
    }
    expect(seen).toEqual([]);
  });

  it('not by agent-messages, previews of cards, webhooks, conversations and brainstorms', async () => {
    const url = `http://127.0.0.1:${port()}/private`;
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
    const body = { url, message };
    const frames = await SseReader.open<JsonObject>(`${stage.parley.url}/api/agent-messages`, {
      method: 'POST',
      headers: HEADERS,
      body,
    });
    expect((await frames.all()).map(({ event }) => event)).toEqual(['error']);
    const preview = await api.call('GET', `/agent-card?url=${encodeURIComponent(url)}`);
    expect(preview.text).toContain('the address may not be called');
    const { name } = await api.save(linear(unique('lo'), echo('a')));
    const hook = { ...sendParams('x'), configuration: { taskPushNotificationConfig: { url } } };
    const refused = await rpc(api.base(name, 'a'), 'SendMessage', hook, { headers: ann.headers });
    expect(blamedFields(refused.body.error?.data)).toEqual(['configuration.taskPushNotificationConfig.url']);
    const started = await api.call<{ conversationId: string }>('POST', '/conversations', { target: url, message: 'x' });
    expect(started.status).toBe(202);
    const events = await SseReader.open<JsonObject>(
      `${stage.parley.url}/api/conversations/${started.body.conversationId}/events`,
      { headers: HEADERS },
    );
    expect(JSON.stringify(await events.all())).toContain('error');
    expect(seen).toEqual([]);
  });

  it('nor the service itself, but its own agents', async () => {
    const run = await api.finish(linear(unique('lo'), tool({ url: `${stage.parley.url}/metrics` })));
    expect(run.status).toBe('failed');
    const own = `${stage.parley.url}/a2a/../metrics`;
    expect((await api.call('GET', `/agent-card?url=${encodeURIComponent(own)}`)).text).toContain('may not be called');
    const { name } = await api.save(linear(unique('lo'), echo('a')));
    const called = await api.finish(linear(unique('lo'), external('x', api.base(name, 'a'), { prompt: 'hello' })));
    expect({ status: called.status, error: called.error }).toEqual({ status: 'completed', error: undefined });
    const preview = await api.call('GET', `/agent-card?url=${encodeURIComponent(api.base(name, 'a'))}`);
    expect(preview.body).toMatchObject({ card: { name: 'a' } });
  });
});

describe('what the operator names on this machine', () => {
  it('is called: the model, and own nodes over HTTP', async () => {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    llm.answer = () => 'from the model';
    const parley = await startParley({
      databaseUrl: stage.database.url,
      env: { ...env, NODE_DISPATCH: 'http', LLM_BASE_URL: llm.url, LLM_MODEL: 'm' },
    });
    stage.defer(() => parley.stop());
    const there = new Api(parley.url, ann.headers);
    const workflow = linear(unique('lo'), input('in'), script('s', ...says('said')), echo('a'), output('out'));
    const run = await there.finish(workflow, { in: 'x' });
    expect({ status: run.status, error: run.error }).toEqual({ status: 'completed', error: undefined });
    expect(run.artifacts.a?.[0]?.parts).toEqual([{ text: 'from the model', mediaType: 'text/plain' }]);
  });

  it('is called where OUTBOUND_ALLOW has it', async () => {
    const options = { databaseUrl: stage.database.url, env: { ...env, OUTBOUND_ALLOW: '127.0.0.1' } };
    const parley = await startParley(options);
    stage.defer(() => parley.stop());
    const run = await new Api(parley.url, ann.headers).finish(
      linear(unique('lo'), tool({ url: `http://127.0.0.1:${port()}/allowed` })),
    );
    expect(run.status).toBe('completed');
    expect(seen).toEqual(['GET /allowed']);
  });
});
