import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import type { JsonObject, Task } from '#libs/protocol';
import { blamedFields, getTask, rest, rpc, sendParams, VERSION } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, linear, unique } from '../support/workflow.js';

const stage = useSharedStage();
let base: string;
let counts: Record<string, number>;

beforeAll(async () => {
  const name = unique('garbage');
  await stage.api.save(linear(name, echo('echo')));
  base = stage.api.base(name, 'echo');
});

beforeEach(async () => (counts = await stage.database.counts()));
afterEach(async () => {
  expect(await stage.database.counts()).toEqual(counts);
  expect((await fetch(`${stage.parley.url}/health/live`)).status).toBe(200);
});

/** Sends bytes as they are and gives the status and the body. */
function raw(
  body: Buffer | string,
  headers: Record<string, string> = {},
  path = '',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${base}${path}`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...VERSION, ...headers } },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const latin1 = (body: JsonObject): Buffer => Buffer.from(JSON.stringify(body), 'latin1');

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

describe("garbage at the A2A surface: the protocol's own error, never a 5xx, nothing stored", () => {
  it.each<[string, string | Buffer]>([
    ['a lone brace', '{'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a text in Latin-1', latin1({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sendParams('José') })],
    ['a byte order mark alone', '\uFEFF'],
    ['XML', '<?xml version="1.0"?><a/>'],
    ['a number that is none', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":NaN}}'],
    ['a comment', '{"jsonrpc":"2.0",/*x*/"id":1}'],
    ['zero bytes', Buffer.alloc(64)],
  ])('JSON-RPC: %s', async (_what, body) => {
    const { status, text } = await raw(body);
    expect(status).toBeLessThan(500);
    expect([-32700, -32600]).toContain((JSON.parse(text) as { error: { code: number } }).error.code);
  });

  it("REST: malformed JSON is 400 in the protocol's shape", async () => {
    for (const path of ['/message:send', '/message:stream']) {
      const reply = await rest(base, 'POST', path, { body: '{"message":' });
      expect(reply).toMatchObject({ status: 400, body: { error: { code: 400, message: expect.any(String) } } });
    }
  });

  it("a body of 10 MB is 413 in the protocol's own shape", async () => {
    const text = 'x'.repeat(10 * 1024 * 1024);
    const overRpc = await rpc(base, 'SendMessage', sendParams(text));
    expect(overRpc.status).toBe(413);
    expect(overRpc.body.error?.code).toBeLessThan(0);
    const overRest = await rest(base, 'POST', '/message:send', { body: sendParams(text) });
    expect(overRest).toMatchObject({ status: 413, body: { error: { code: 413, message: expect.any(String) } } });
  });

  it('a body that is said to be 10 MB and never comes does not hold anything up', async () => {
    const { hostname, port, pathname } = new URL(base);
    const socket = connect(Number(port), hostname);
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk));
      socket.on('close', () => resolve(text));
      socket.on('error', () => resolve(text));
    });
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${10 * 1024 * 1024}\r\nConnection: close\r\n\r\n{`,
    );
    const reply = await Promise.race([
      answer,
      new Promise<string>((resolve) => setTimeout(() => resolve(''), 1_500).unref()),
    ]);
    socket.destroy();
    if (reply !== '') expect(reply).toMatch(/^HTTP\/1\.1 4\d\d/);
  });

  it.each([200, 10_000, 200_000])('nesting of %d levels is refused or carried, never a crash', async (depth) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"NONE","parts":[{"data":${nested(depth)}}]}}}`;
    const { status, text } = await raw(body);
    expect(status).toBeLessThan(500);
    expect(text).toContain('"error"');
    expect(text).not.toContain('-32603');
  });

  it.each<[string, JsonObject, string]>([
    ['NUL in a text', { parts: [{ text: 'a\u0000b' }] }, 'message.parts[0].text'],
    ['NUL in data', { parts: [{ data: { k: ['\u0000'] } }] }, 'message.parts[0].data'],
    ['NUL in a key of data', { parts: [{ data: { 'a\u0000': 1 } }] }, 'message.parts[0].data'],
    ['NUL in the messageId', { messageId: 'a\u0000' }, 'message.messageId'],
    ['NUL in the contextId', { contextId: 'a\u0000' }, 'message.contextId'],
    ['NUL in metadata', { metadata: { k: '\u0000' } }, 'message.metadata'],
    ['a lone surrogate in a text', { parts: [{ text: 'a\ud800b' }] }, 'message.parts[0].text'],
    ['a lone surrogate in metadata', { metadata: { k: '\udc00' } }, 'message.metadata'],
  ])('%s is refused by name with nothing stored, or carried without a loss', async (_what, fields, field) => {
    const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: 'x' }], ...fields };
    const reply = await rpc<{ task: Task }>(base, 'SendMessage', { message });
    expect(reply.status).toBeLessThan(500);
    if (reply.body.error === undefined) {
      const task = await getTask(base, reply.body.result?.task.id ?? '');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task.history?.[0]).toMatchObject(message);
      counts = await stage.database.counts();
      return;
    }
    expect(reply.body.error).toMatchObject({ code: -32602 });
    expect(blamedFields(reply.body.error.data).some((it) => it.startsWith(field))).toBe(true);
    expect((await rest(base, 'POST', '/message:send', { body: { message } })).status).toBe(400);
  });

  it('NUL and other oddities in ids and cursors of reads', async () => {
    for (const id of [
      'a\u0000b',
      '\ud800',
      'x'.repeat(100_000),
      '../../etc/passwd',
      "'; DROP TABLE task; --",
      '%00',
      '\u0000',
    ]) {
      const { body, status } = await rpc(base, 'GetTask', { id });
      expect(status).toBeLessThan(500);
      expect([-32001, -32602]).toContain(body.error?.code);
    }
    for (const path of [
      '/tasks/%00',
      '/tasks/a%00b:cancel',
      '/tasks/%ff',
      '/tasks/%',
      '/tasks?pageToken=%00',
      '/tasks?contextId=%00',
      '/tasks?pageSize=1e9',
      '/tasks?pageSize=',
      '/tasks?historyLength=0x10',
    ]) {
      const reply = await rest(base, path.includes(':cancel') ? 'POST' : 'GET', path);
      expect(reply.status).toBeLessThan(500);
    }
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])(
    "%s at an agent's base is an error of HTTP, not of the server",
    async (method) => {
      const reply = await rest(base, method, '', method === 'GET' ? {} : { body: {} });
      expect([404, 405]).toContain(reply.status);
    },
  );

  it("another content type is refused in the protocol's own shape", async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      ';;;',
    ]) {
      const { status, text } = await raw('hello', { 'content-type': type }, '/message:send');
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(JSON.parse(text)).toHaveProperty('error');
    }
  });

  it('application/a2a+json is a content type of the REST binding', async () => {
    const { status } = await raw(
      JSON.stringify(sendParams('x')),
      { 'content-type': 'application/a2a+json' },
      '/message:send',
    );
    expect(status).toBe(200);
    counts = await stage.database.counts();
  });

  it('keys that mean something to JavaScript mean nothing here', async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"__proto__":{"message":{}},"constructor":{"prototype":{"x":1}}}}';
    const { text, status } = await raw(body);
    expect(status).toBeLessThan(500);
    expect(JSON.parse(text)).toMatchObject({ error: { code: expect.any(Number) } });
    expect(({} as JsonObject).x).toBeUndefined();
  });

  it('params of any JSON whatever are answered with -32602 and never with a stack', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('SendMessage', 'SendStreamingMessage', 'GetTask', 'CancelTask', 'SubscribeToTask'),
        fc.jsonValue(),
        async (method, params) => {
          const { body, status } = await rpc(base, '', undefined, { body: { jsonrpc: '2.0', id: 1, method, params } });
          expect(status).toBeLessThan(500);
          expect([-32602, -32600, -32001]).toContain(body.error?.code);
          expect(JSON.stringify(body)).not.toMatch(/\.(js|ts):\d+|node_modules|SELECT |postgres/i);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('a Message with any one field replaced by anything is answered as the protocol says', async () => {
    const field = fc.constantFrom(
      'messageId',
      'role',
      'parts',
      'contextId',
      'taskId',
      'metadata',
      'extensions',
      'referenceTaskIds',
    );
    const wrong = fc.oneof(fc.integer(), fc.boolean(), fc.array(fc.integer(), { minLength: 1 }), fc.constant([[]]));
    await fc.assert(
      fc.asyncProperty(field, wrong, async (name, value) => {
        const { body, status } = await rpc(base, 'SendMessage', {
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], [name]: value },
        });
        expect(status).toBeLessThan(500);
        if (body.error === undefined) return;
        expect(body.error.code).toBe(-32602);
        expect(blamedFields(body.error.data).every((it) => it.startsWith(`message.${name}`))).toBe(true);
      }),
      { numRuns: 100 },
    );
    const after = await stage.database.counts();
    expect(after.workflow).toBe(counts.workflow);
    counts = after;
  });
});
