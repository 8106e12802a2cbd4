import type { ServerResponse } from 'node:http';
import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { WireAgent, type WireCard, type WireRequest } from '../../../../test/support/wire-agent.js';
import type { AgentClient } from '../agent-client.js';
import { HttpAgentDirectory } from '../http-agent-directory.js';

const TASK = { id: 't/1', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
const WORKING = { taskId: 't/1', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };
const NOT_FOUND = {
  error: {
    code: 404,
    status: 'NOT_FOUND',
    message: 'no such Task',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' },
    ],
  },
};

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const directory = new HttpAgentDirectory({ http });
let agent: WireAgent;

async function clientOf(
  card: WireCard,
  answer: (response: ServerResponse, request: WireRequest, index: number) => void,
): Promise<AgentClient> {
  agent = await WireAgent.start({ binding: 'HTTP+JSON', ...card }, answer);
  return directory.resolveClient(agent.url);
}

async function send(client: AgentClient): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of client.sendMessage({ message: userMessage('hello') })) events.push(event);
  return events;
}

afterEach(() => agent.stop());
afterAll(() => http.close());

describe('an agent over HTTP+JSON', () => {
  it('is asked at the paths of the binding, under the tenant of the card', async () => {
    const client = await clientOf({ tenant: 'a b' }, (response, { path }) =>
      response.end(JSON.stringify(path.endsWith(':send') ? { task: TASK } : TASK)),
    );
    expect(await send(client)).toEqual([{ task: TASK }]);
    expect(await client.getTask('t/1')).toEqual(TASK);
    expect(await client.cancelTask('t/1')).toBe('acknowledged');
    expect(agent.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /agent/a%20b/message:send',
      'GET /agent/a%20b/tasks/t%2F1',
      'POST /agent/a%20b/tasks/t%2F1:cancel',
    ]);
    expect(agent.requests[0]).toMatchObject({
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: { configuration: { acceptedOutputModes: ['text/plain', 'application/json'] } },
    });
  });

  it('streams, and is subscribed to again where the connection was lost', async () => {
    const client = await clientOf({ streaming: true }, (response, _request, index) => {
      response.writeHead(200, SSE);
      if (index > 0) return void response.end(`data: ${JSON.stringify({ task: TASK })}\n\n`);
      response.write(`data: ${JSON.stringify({ statusUpdate: WORKING })}\r\n\r\n`, () => response.destroy());
    });
    expect(await send(client)).toEqual([{ statusUpdate: WORKING }, { task: TASK }]);
    expect(agent.requests.map(({ path }) => path)).toEqual(['/agent/message:stream', '/agent/tasks/t%2F1:subscribe']);
  });

  it('gives the reason of a google.rpc.Status', async () => {
    const client = await clientOf({}, (response) => response.writeHead(404).end(JSON.stringify(NOT_FOUND)));
    const failure = { kind: 'not-found', code: -32001, message: 'a2a error -32001: no such Task' };
    await expect(client.getTask('t')).rejects.toMatchObject(failure);
  });

  it.each([
    ['a known reason', NOT_FOUND, { kind: 'not-found', code: -32001 }],
    ['none', { error: { code: 500, message: 'broken' } }, { kind: 'rpc-error', message: 'a2a error -32603: broken' }],
  ])('ends a stream with an error event of %s', async (_what, error, failure) => {
    const client = await clientOf({ streaming: true }, (response) =>
      response.writeHead(200, SSE).end(`event: error\ndata: ${JSON.stringify(error)}\n\n`),
    );
    await expect(send(client)).rejects.toMatchObject(failure);
  });

  it.each<[string, object, object]>([
    ['of a known reason', NOT_FOUND, { kind: 'not-found', code: -32001 }],
    ['of an HTTP status', { error: { code: 500, message: 'broken' } }, { message: 'a2a error -32603: broken' }],
    ['that is a bare Status', { code: 13, message: 'broken', details: [] }, { message: 'a2a error -32603: broken' }],
    ['that is a bare error of JSON-RPC', { code: -32603, message: 'broken' }, { message: 'a2a error -32603: broken' }],
  ])('ends a stream with an item that is an error %s', async (_what, error, failure) => {
    const client = await clientOf({ streaming: true }, (response, { path }) => {
      if (!path.endsWith(':stream')) return void response.writeHead(404).end(JSON.stringify(NOT_FOUND));
      response.writeHead(200, SSE).write(`data: ${JSON.stringify({ statusUpdate: WORKING })}\n\n`);
      response.end(`data: ${JSON.stringify(error)}\n\n`);
    });
    await expect(send(client)).rejects.toMatchObject(failure);
  });

  it.each([
    ['what is not JSON', '<html>', {}, false],
    ['an empty object', '{}', {}, false],
    ['no stream', JSON.stringify({ task: TASK }), {}, true],
    ['an event that is not JSON', 'data: hello\n\n', SSE, true],
  ])('is refused for %s', async (_what, body, headers, streaming) => {
    const client = await clientOf({ streaming }, (response) => response.writeHead(200, headers).end(body));
    await expect(send(client)).rejects.toMatchObject({ kind: 'invalid-response' });
    expect(agent.requests).toHaveLength(1);
  });

  it.each([400, 409])('refuses to cancel a Task that has ended with HTTP %d, as servers do', async (status) => {
    const error = { code: status, status: 'FAILED_PRECONDITION', message: 'Task cannot be canceled' };
    const client = await clientOf({}, (response, { path }) =>
      path.endsWith(':cancel')
        ? response.writeHead(status).end(JSON.stringify({ error }))
        : response.end(JSON.stringify(TASK)),
    );
    expect(await client.cancelTask('t/1')).toBe('refused');
  });

  it('is tried again after 5xx', async () => {
    const client = await clientOf({}, (response, _request, index) =>
      index === 0 ? response.writeHead(503).end() : response.end(JSON.stringify({ task: TASK })),
    );
    expect(await send(client)).toEqual([{ task: TASK }]);
    expect(agent.requests).toHaveLength(2);
  });
});
