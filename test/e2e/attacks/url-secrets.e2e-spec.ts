import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';
import { blamedFields, rpc, sendParams } from '../../support/a2a.js';
import { CardAgent } from '../../support/card-agent.js';
import { SseReader } from '../../support/sse.js';
import { useStage } from '../../support/stage.js';
import { rewriteStored } from '../../support/stored-definition.js';
import { echo, external, linear, unique, type WorkflowNode } from '../../support/workflow.js';
import { ChatProcess } from '../agent-app/chat-process.js';

const PASSWORD = 'the-password-of-the-agent';
const KEY = 'the-key-in-the-query';
const RULE = 'must not carry a user name or password';

const stage = useStage({ env: { LOG_LEVEL: 'debug' } });
let door: Server;
let seen: string[];

beforeAll(async () => {
  door = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    if (to === null) response.writeHead(404).end();
    else response.writeHead(302, { location: to }).end();
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
});

afterAll(() => {
  door?.close();
  expect(stage.parley.logs()).not.toContain(PASSWORD);
  expect(stage.parley.logs()).not.toContain(KEY);
});
beforeEach(() => (seen = []));

const port = (): number => (door.address() as AddressInfo).port;
const secret = (): string => `http://user:${PASSWORD}@127.0.0.1:${port()}/agent`;

describe("a password in an agent's URL is refused", () => {
  it.each<[string, (url: string) => WorkflowNode]>([
    ['an external node', (url) => external('x', url)],
    ['a conversation node', (url) => ({ id: 'x', type: 'conversation', config: { target: url, message: 'hi' } })],
    [
      'a brainstorm node',
      (url) => ({ id: 'x', type: 'brainstorm', config: { agents: [{ agent: url }, { agent: 'b' }] } }),
    ],
    ['a tool node', (url) => ({ id: 'x', type: 'tool', config: { tool: 'http_get', args: { url } } })],
  ])('at save, of %s', async (_what, node) => {
    const reply = await stage.api.call('POST', '/workflows', linear(unique('pw'), node(secret())));
    expect(reply.status).toBe(422);
    expect(reply.text).toContain(RULE);
    expect(reply.text).not.toContain(PASSWORD);
  });

  it.each<[string, number, (url: string) => [string, string, unknown?]]>([
    ['the target of a conversation', 422, (url) => ['POST', '/conversations', { target: url, message: 'x' }]],
    ['its requester', 422, (url) => ['POST', '/conversations', { requester: url, target: url, message: 'x' }]],
    ['who is told of it', 422, (url) => ['POST', '/conversations', { target: 'a', message: 'x', announce: url }]],
    [
      'an agent of a brainstorm',
      422,
      (url) => ['POST', '/brainstorms', { idea: 'x', agents: [{ agent: url }, { agent: url }] }],
    ],
    ['a preview', 400, (url) => ['GET', `/agent-card?url=${encodeURIComponent(url)}`]],
    ['an agent message', 400, (url) => ['POST', '/agent-messages', { url, message: {} }]],
  ])('as %s', async (_what, status, call) => {
    const reply = await stage.api.call(...call(secret()));
    expect({ status: reply.status, text: reply.text }).toEqual({ status, text: expect.stringContaining(RULE) });
    expect(reply.text).not.toContain(PASSWORD);
    expect(seen).toEqual([]);
  });

  it('as the target of a conversation over A2A, and as a webhook', async () => {
    const target = sendParams([{ data: { target: secret(), message: 'x' } }]);
    const { body } = await rpc(`${stage.parley.url}/a2a/conversations`, 'SendMessage', target);
    expect(blamedFields(body.error?.data)).toEqual(['target']);
    const { name } = await stage.api.save(linear(unique('pw'), echo('a')));
    const params = { ...sendParams('x'), configuration: { taskPushNotificationConfig: { url: secret() } } };
    const hook = await rpc(stage.api.base(name, 'a'), 'SendMessage', params);
    expect(blamedFields(hook.body.error?.data)).toEqual(['configuration.taskPushNotificationConfig.url']);
    expect(JSON.stringify([body, hook.body])).not.toContain(PASSWORD);
  });

  it('by the terminal client', async () => {
    const chat = ChatProcess.spawn(secret());
    expect(await chat.end()).toBe(1);
    expect(chat.output).toContain(`http://127.0.0.1:${port()}/agent cannot be called: the agent's URL ${RULE}`);
    expect(chat.output).not.toContain(PASSWORD);
    expect(seen).toEqual([]);
  });
});

describe('a password in a URL that came another way', () => {
  it('in a stored definition fails the run, naming the node and not the password', async () => {
    const { name } = await stage.api.save(linear(unique('pw'), external('x', 'http://127.0.0.1:9/agent')));
    await rewriteStored(stage.database, name, (definition) => {
      definition.nodes[0]!.config = { endpoint_url: secret() };
    });
    const run = await stage.api.ended(await stage.api.start(name));
    const where = `http://127.0.0.1:${port()}/agent`;
    expect(run.error).toEqual({
      kind: 'refused',
      node: 'x',
      message: `node "x": external agent call to ${where}: endpoint_url ${RULE}`,
    });
    expect(run.nodes.x?.agentUrl).toBe(where);
    const events = await stage.api.call('GET', `/runs/${run.runId}/events`);
    expect(events.text).toContain(where);
    expect(JSON.stringify(run) + events.text).not.toContain(PASSWORD);
    const direct = await rpc(stage.api.base(name, 'x'), 'SendMessage', sendParams('hi'));
    expect(JSON.stringify(direct.body)).toContain(RULE);
    expect(JSON.stringify(direct.body)).not.toContain(PASSWORD);
    expect(seen).toEqual([]);
  });

  it.each(['JSONRPC', 'GRPC'])('in a card (%s) is not called, nor shown', async (protocolBinding) => {
    const agent = await CardAgent.start();
    stage.defer(() => agent.stop());
    const url = agent.url.replace('//', `//user:${PASSWORD}@`);
    const good = { url: `${agent.url}/rpc`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };
    agent.card = agent.plainCard({ supportedInterfaces: [{ url, protocolBinding, protocolVersion: '1.0' }, good] });
    const run = await stage.api.finish(linear(unique('pw'), external('x', agent.url)));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain(`the agent card is refused: its URLs ${RULE}`);
    expect(agent.messages).toBe(0);
    const preview = await stage.api.call<JsonObject>('GET', `/agent-card?url=${encodeURIComponent(agent.url)}`);
    expect(preview.body).not.toHaveProperty('card');
    expect(preview.text).toContain(RULE);
    const cards = await stage.api.call('GET', '/cards');
    expect(JSON.stringify(run) + preview.text + cards.text).not.toContain(PASSWORD);
  });

  it('in a redirect is not followed', async () => {
    const to = encodeURIComponent(secret());
    const tool = {
      id: 't',
      type: 'tool',
      config: { tool: 'http_get', args: { url: `http://127.0.0.1:${port()}/?to=${to}` } },
    };
    const run = await stage.api.finish(linear(unique('pw'), tool));
    expect(run.error?.message).toContain('the address may not be called');
    expect(seen).toHaveLength(1);
  });

  it("in a caller's arguments of a tool is not called, nor told", async () => {
    const { name } = await stage.api.save(
      linear(unique('pw'), { id: 't', type: 'tool', config: { tool: 'http_get' } }),
    );
    const { body } = await rpc(stage.api.base(name, 't'), 'SendMessage', sendParams([{ data: { url: secret() } }]));
    expect(JSON.stringify(body)).toContain(`http_get: url ${RULE}`);
    expect(seen).toEqual([]);
  });
});

describe('a key in the query of a URL', () => {
  it('stands in no error and no line of the log', async () => {
    const url = `http://127.0.0.1:${port()}/agent?key=${KEY}`;
    const run = await stage.api.finish(linear(unique('key'), external('x', url)));
    expect(run.error?.message).toContain(`external agent call to http://127.0.0.1:${port()}/agent: `);
    expect(run.error?.message).not.toContain(KEY);
    const get = { id: 't', type: 'tool', config: { tool: 'http_get', args: { url } } };
    const failed = await stage.api.finish(linear(unique('key'), get));
    expect(failed.error?.message).toContain(`http_get: HTTP 404 from http://127.0.0.1:${port()}/agent`);
    expect(failed.error?.message).not.toContain(KEY);
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
    const frames = await SseReader.open<JsonObject>(`${stage.parley.url}/api/agent-messages`, {
      method: 'POST',
      body: { url, message },
    });
    expect(JSON.stringify(await frames.all())).not.toContain(KEY);
    expect(seen.length).toBeGreaterThan(0);
  });
});
