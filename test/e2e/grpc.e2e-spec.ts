import * as sdk from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import * as grpc from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import type { JsonObject } from '#libs/protocol';
import { rest, sendParams, sendTask } from '../support/a2a.js';
import { holds } from '../support/fake-behaviour.js';
import { GrpcWire, grpcFailure } from '../support/grpc-wire.js';
import { freePort, type Parley, startParley, startRefused } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, external, script, unique } from '../support/workflow.js';

const stage = useStage({ env: { GRPC_PORT: '0', BODY_LIMIT: '64kb' } });
let workflow: string;
let target: string;
let client: grpc.Client;

beforeAll(async () => {
  workflow = unique('grpc');
  await stage.api.save({
    name: workflow,
    nodes: [echo('echo'), script('slow', { status: 'working' }, { sleep: 60_000 }, { complete: 'done' })],
    edges: [],
  });
  target = (await grpcInterface(stage.parley, ''))?.url ?? '';
  client = new grpc.Client(target, grpc.credentials.createInsecure());
  stage.defer(() => client.close());
});

interface Interface {
  url: string;
  protocolBinding: string;
  protocolVersion: string;
  tenant?: string;
}

async function interfaces(parley: Parley, path: string): Promise<Interface[]> {
  const response = await fetch(`${parley.url}/a2a${path}/.well-known/agent-card.json`);
  return ((await response.json()) as { supportedInterfaces: Interface[] }).supportedInterfaces;
}

async function grpcInterface(parley: Parley, path: string): Promise<Interface | undefined> {
  return (await interfaces(parley, path)).find((it) => it.protocolBinding === 'GRPC');
}

const VERSION = new grpc.Metadata();
VERSION.set('a2a-version', '1.0');

/** One unary call with any bytes, and how it ended. */
function callRaw(path: string, bytes: Buffer, options: grpc.CallOptions = {}) {
  let made: grpc.ClientUnaryCall | undefined;
  const ended = new Promise<grpc.ServiceError | undefined>((resolve) => {
    made = client.makeUnaryRequest(
      path,
      (it: Buffer) => it,
      (it) => it,
      bytes,
      VERSION,
      options,
      (error) => resolve(error ?? undefined),
    );
  });
  return { ended, cancel: () => made?.cancel() };
}

function sendBytes(node: string, text: string, fields: JsonObject = {}): Buffer {
  const tenant = `workflows/${workflow}/nodes/${node}`;
  return A2AService.sendMessage.requestSerialize(
    sdk.SendMessageRequest.fromJSON({ ...sendParams(text), tenant, ...fields }),
  );
}

const SEND = A2AService.sendMessage.path;
const slowBase = (): string => stage.api.base(workflow, 'slow');

/** The Tasks of the slow node that work. */
async function working(): Promise<string[]> {
  const { body } = await rest<{ tasks: { id: string }[] }>(slowBase(), 'GET', '/tasks?status=TASK_STATE_WORKING');
  return body.tasks.map(({ id }) => id);
}

describe('the gRPC binding', () => {
  it('reaches conversations as their card says, also where a workflow has that name', async () => {
    await stage.api.save({ name: 'conversations', nodes: [echo('echo')], edges: [] });
    const transports = { preferredTransports: ['GRPC'], transports: [new GrpcTransportFactory()] };
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, transports);
    const conversations = await new ClientFactory(options).createFromUrl(`${stage.parley.url}/a2a/conversations/`);
    const wanted = { requester: workflow, target: workflow, message: 'hi', maxTurns: 0 };
    // The conversation would go on without end.
    const configuration = { returnImmediately: true };
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: wanted }] }, configuration };
    const task = (await conversations.sendMessage(sdk.SendMessageRequest.fromJSON(params))) as sdk.Task;
    expect(await stage.api.call('GET', `/conversations/${task.id}`)).toMatchObject({
      status: 200,
      body: { maxTurns: 0 },
    });
    const canceled = await conversations.cancelTask(sdk.CancelTaskRequest.fromJSON({ id: task.id }));
    expect(canceled.status?.state).toBe(sdk.TaskState.TASK_STATE_CANCELED);
    await stage.api.call('DELETE', '/workflows/conversations');
  });

  it('is told by every card, with the agent’s path as the tenant', async () => {
    const base = { url: target, protocolBinding: 'GRPC', protocolVersion: '1.0' };
    expect(await grpcInterface(stage.parley, '')).toEqual(base);
    for (const path of [`workflows/${workflow}`, `workflows/${workflow}/nodes/echo`, 'nodes/echo']) {
      expect(await grpcInterface(stage.parley, `/${path}`)).toEqual({ ...base, tenant: path });
    }
    expect(await grpcInterface(stage.parley, '/conversations')).toEqual({ ...base, tenant: 'conversations/' });
    expect(target).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it('reaches an agent by any path that has a card', async () => {
    for (const tenant of [`workflows/${workflow}/nodes/echo`, 'nodes/echo']) {
      expect(await callRaw(SEND, sendBytes('echo', 'x', { tenant })).ended).toBeUndefined();
    }
    const unknown = await callRaw(SEND, sendBytes('echo', 'x', { tenant: `workflows/${workflow}/elsewhere` })).ended;
    expect(unknown && grpcFailure(unknown)).toMatchObject({ code: grpc.status.NOT_FOUND, reason: 'AGENT_NOT_FOUND' });
  });

  it('a deadline that passes ends the waiting and not the work', async () => {
    const before = await working();
    let begun: string | undefined;
    // On a busy machine a short one may pass before the work has begun.
    for (let limit = 2_000; begun === undefined; limit *= 2) {
      const call = callRaw(SEND, sendBytes('slow', 'go'), { deadline: Date.now() + limit });
      expect((await call.ended)?.code).toBe(grpc.status.DEADLINE_EXCEEDED);
      begun = (await working()).find((id) => !before.includes(id));
    }
    expect((await rest(slowBase(), 'POST', `/tasks/${begun}:cancel`, { body: {} })).status).toBe(200);
  });

  it('a call that is canceled ends the waiting and not the work', async () => {
    const before = await working();
    const call = callRaw(SEND, sendBytes('slow', 'go'));
    const begun = await until(async () => (await working()).find((id) => !before.includes(id)), {
      what: 'the Task to work',
    });
    call.cancel();
    expect((await call.ended)?.code).toBe(grpc.status.CANCELLED);
    expect(await working()).toContain(begun);
    expect((await rest(slowBase(), 'POST', `/tasks/${begun}:cancel`, { body: {} })).status).toBe(200);
  });

  it('refuses a message that is too large, and goes on', async () => {
    const error = await callRaw(SEND, sendBytes('echo', 'x'.repeat(100_000))).ended;
    expect(error?.code).toBe(grpc.status.RESOURCE_EXHAUSTED);
    expect(await callRaw(SEND, sendBytes('echo', 'x')).ended).toBeUndefined();
  });

  it.each(['ff', 'ffffffffffffffffffff', '0a05', '0aff01', '1202'])('refuses the bytes %s', async (hex) => {
    const error = await callRaw(SEND, Buffer.from(hex, 'hex')).ended;
    expect(error?.code).toBe(grpc.status.INVALID_ARGUMENT);
    expect(error && grpcFailure(error)).toMatchObject({ domain: 'a2a-protocol.org' });
    expect(JSON.stringify(error)).not.toMatch(/node_modules|\.js:\d/);
  });

  it('refuses a text that is not UTF-8', async () => {
    const bytes = sendBytes('echo', 'José');
    bytes.set([0xff, 0xfe], bytes.indexOf('é'));
    const error = await callRaw(SEND, bytes).ended;
    expect(error?.code).toBe(grpc.status.INVALID_ARGUMENT);
  });

  it('leaves aside fields that it does not know', async () => {
    const field100 = Buffer.from('a00601', 'hex');
    expect(await callRaw(SEND, Buffer.concat([sendBytes('echo', 'x'), field100])).ended).toBeUndefined();
  });

  it('refuses data nested deeper than JSON may be', async () => {
    let data: unknown = 1;
    for (let depth = 0; depth < 300; depth++) data = [data];
    const params = sendParams([{ data: data as never }]) as unknown as JsonObject;
    const error = await callRaw(SEND, sendBytes('echo', 'x', params)).ended;
    expect(error && grpcFailure(error)).toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
  });

  it('has no other methods', async () => {
    const error = await callRaw('/lf.a2a.v1.A2AService/Nothing', Buffer.alloc(0)).ended;
    expect(error?.code).toBe(grpc.status.UNIMPLEMENTED);
  });

  it('answers health checks, and is one of the readiness checks', async () => {
    for (const service of ['', 'lf.a2a.v1.A2AService']) expect(await health(target, service)).toBe('SERVING');
    expect(await (await fetch(`${stage.parley.url}/health/ready`)).text()).toContain('grpc');
  });

  it('streams to readers that stop reading, without holding up the others', async () => {
    const { id } = await sendTask(slowBase(), 'go', { configuration: { returnImmediately: true } });
    const binding = new GrpcWire(() => ({ url: stage.parley.url, grpc: target }));
    const open = () => binding.open(`workflows/${workflow}/nodes/slow`, 'SubscribeToTask', { id });
    const idle = await open();
    const reading = await open();
    await rest(slowBase(), 'POST', `/tasks/${id}:cancel`, { body: {} });
    const seen = [];
    for await (const item of reading.items) seen.push(item);
    expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
    idle.leave();
  });
});

describe('the gRPC binding of a service', () => {
  it('is off unless GRPC_PORT is set', async () => {
    const database = await freshDatabase();
    const parley = await startParley({ databaseUrl: database.url });
    expect((await interfaces(parley, '')).map((it) => it.protocolBinding)).not.toContain('GRPC');
    await parley.stop();
    await database.drop();
  });

  it('says GRPC_PUBLIC_URL in cards; a port that is taken stops the start', async () => {
    const database = await freshDatabase();
    const port = await freePort();
    const env = { GRPC_PORT: String(port), GRPC_PUBLIC_URL: 'grpc.example.com:443' };
    const parley = await startParley({ databaseUrl: database.url, env });
    expect((await grpcInterface(parley, ''))?.url).toBe('grpc.example.com:443');
    const refused = await startRefused({ databaseUrl: database.url, env });
    expect(refused.code).toBe(1);
    const told = refused.logs.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(told).toEqual(['Parley could not start: GRPC_PORT: the server cannot listen on this port']);
    await parley.stop();
    await database.drop();
  });

  it('names agents by the host under a wildcard GRPC_PUBLIC_URL, for clients that send no tenant', async () => {
    const database = await freshDatabase();
    const port = await freePort();
    const env = { GRPC_PORT: String(port), GRPC_PUBLIC_URL: '*.a2a.example.com:443' };
    const parley = await startParley({ databaseUrl: database.url, env });
    const name = unique('host');
    for (const it of [name, unique('other')])
      await new Api(parley.url).save({ name: it, nodes: [echo('echo')], edges: [] });
    const host = `workflows--${name}.a2a.example.com:443`;
    expect(await grpcInterface(parley, `/workflows/${name}`)).toMatchObject({ url: host, tenant: `workflows/${name}` });
    expect((await grpcInterface(parley, ''))?.url).toBe('service.a2a.example.com:443');
    const send = (authority: string, fields: object = {}) => {
      const caller = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
        'grpc.default_authority': authority,
      });
      stage.defer(() => caller.close());
      const { path, requestSerialize, responseDeserialize } = A2AService.sendMessage;
      const request = sdk.SendMessageRequest.fromJSON({ ...sendParams('hi'), ...fields });
      return new Promise<string>((resolve) => {
        caller.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, VERSION, (error, answer) =>
          resolve(error ? error.details : JSON.stringify(sdk.SendMessageResponse.toJSON(answer!))),
        );
      });
    };
    expect(await send(host)).toContain('TASK_STATE_COMPLETED');
    expect(await send(`workflows--${name}--nodes--echo.a2a.example.com`)).toContain('TASK_STATE_COMPLETED');
    expect(await send('agents--none.a2a.example.com')).toBe('agent "none" not found');
    expect(await send('agents--none.a2a.example.com', { tenant: `workflows/${name}` })).toContain('COMPLETED');
    expect(await send('service.a2a.example.com')).toContain('skillId');
    await parley.stop();
    await database.drop();
  });

  it('SIGTERM: not serving, streams end with UNAVAILABLE, the exit is clean, and the Task goes on after it', async () => {
    const database = await freshDatabase();
    const options = { databaseUrl: database.url, env: { GRPC_PORT: '0', SHUTDOWN_GRACE: '1' } };
    const first = await startParley(options);
    const api = new Api(first.url);
    const name = unique('term');
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    await api.save({ name, nodes: [external('slow', fake.url)], edges: [] });
    const address = (await grpcInterface(first, ''))?.url ?? '';
    const caller = new grpc.Client(address, grpc.credentials.createInsecure());
    const tenant = `workflows/${name}/nodes/slow`;
    const stream = caller.makeServerStreamRequest(
      A2AService.sendStreamingMessage.path,
      A2AService.sendStreamingMessage.requestSerialize,
      A2AService.sendStreamingMessage.responseDeserialize,
      sdk.SendMessageRequest.fromJSON({ ...sendParams('go'), tenant }),
      VERSION,
    );
    const seen: unknown[] = [];
    stream.on('data', (item: sdk.StreamResponse) => seen.push(sdk.StreamResponse.toJSON(item)));
    const cut = new Promise<grpc.ServiceError>((resolve) => stream.once('error', resolve));
    await until(() => seen.length >= 2 && fake.taskIds().length === 1, { what: 'the Task to work' });
    expect(await first.stop()).toBe(0);
    expect((await cut).code).toBe(grpc.status.UNAVAILABLE);
    caller.close();
    const id = (seen[0] as { task: { id: string } }).task.id;
    const second = await startParley(options);
    fake.release();
    await until(
      async () => {
        const { body } = await rest<{ status: { state: string } }>(`${second.url}/a2a`, 'GET', `/tasks/${id}`);
        return body.status.state === 'TASK_STATE_COMPLETED';
      },
      { what: 'the Task to end at the next replica' },
    );
    await second.stop();
    await database.drop();
  });
});

function health(address: string, service: string): Promise<string> {
  const Health = grpc.makeGenericClientConstructor(healthService as unknown as grpc.ServiceDefinition, 'Health');
  const checker = new Health(address, grpc.credentials.createInsecure());
  return new Promise<string>((resolve, reject) => {
    const done = (error: Error | null, answer?: { status: string }): void =>
      error ? reject(error) : resolve(answer?.status ?? '');
    (checker['check'] as (request: object, done: unknown) => void).call(checker, { service }, done);
  }).finally(() => checker.close());
}
