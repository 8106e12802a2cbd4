import { jest } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rpc, sendParams } from '../support/a2a.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { SdkGrpcAgent, type SdkGrpcAgentOptions } from '../support/sdk-grpc-agent.js';
import { selfMadeCertificate } from '../support/self-made-certificate.js';
import { until } from '../support/until.js';
import { Api, external, linear, textOf, unique } from '../support/workflow.js';

const tls = selfMadeCertificate();
const agents: SdkGrpcAgent[] = [];
let folder: string;
let database: TestDatabase;
let parley: Parley;
let api: Api;

async function startAgent(options?: SdkGrpcAgentOptions): Promise<SdkGrpcAgent> {
  const agent = await SdkGrpcAgent.start(options);
  agents.push(agent);
  return agent;
}

async function startRun(agent: SdkGrpcAgent, prompt: string): Promise<string> {
  const { name } = await api.save(linear(unique('grpc'), external('x', agent.url, { prompt })));
  return api.start(name);
}

beforeAll(async () => {
  // The SDK writes each error that it answers with to the console.
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  folder = await mkdtemp(join(tmpdir(), 'parley-grpc-'));
  const file = join(folder, 'agents.pem');
  await writeFile(file, tls.cert);
  database = await freshDatabase();
  parley = await startParley({
    databaseUrl: database.url,
    env: { PORT: String(await freePort()), NODE_EXTRA_CA_CERTS: file },
  });
  api = new Api(parley.url);
});

afterEach(() => Promise.all(agents.splice(0).map((agent) => agent.kill())));

afterAll(async () => {
  jest.restoreAllMocks();
  await parley?.stop();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('a run that calls an agent which offers gRPC only', () => {
  it.each([true, false])('has the answer of the agent (streaming: %s)', async (streaming) => {
    const agent = await startAgent({ streaming });
    const run = await api.ended(await startRun(agent, 'hello'));
    expect(run.status).toBe('completed');
    expect(textOf(run.result)).toBe('hellohello');
    expect(agent.calls[0]?.metadata).toMatchObject({ 'a2a-version': '1.0' });
  });

  it('asks the question of the agent, and the answer reaches the same Task of the agent', async () => {
    const agent = await startAgent();
    const runId = await startRun(agent, 'ask');
    const waiting = await api.reached(runId, ['input-required']);
    expect(waiting.nodes['x']?.waitsFor?.message).toContain('which one?');
    const { body } = await rpc(api.base(waiting.workflow), 'SendMessage', {
      message: { ...(sendParams('this one').message as object), taskId: runId },
    });
    expect(body.result).toMatchObject({ task: { id: runId } });
    expect(textOf((await api.ended(runId)).result)).toBe('this onethis one');
    const sent = agent.calls.filter(({ method }) => method.startsWith('send'));
    const first = sent[0]?.request.message as { taskId: string };
    const second = sent[1]?.request.message as { taskId: string };
    expect([sent.length, first.taskId, second.taskId]).toEqual([2, '', expect.stringMatching(/./)]);
  });

  it('cancels the Task of the agent', async () => {
    const agent = await startAgent();
    const runId = await startRun(agent, 'wait');
    await agent.executor.waits;
    await until(async () => (await api.run(runId)).nodes['x']?.taskId, { what: 'the Task to be known' });
    const canceled = agent.nextCall('cancelTask');
    const { body } = await api.call<{ children: object[] }>('POST', `/runs/${runId}/cancel`);
    expect(body.children).toMatchObject([{ node: 'x', outcome: 'acknowledged' }]);
    await canceled;
  });

  it('fails with the words of the agent', async () => {
    const agent = await startAgent();
    const run = await api.ended(await startRun(agent, 'fail'));
    expect(run).toMatchObject({
      status: 'failed',
      error: { node: 'x', message: expect.stringContaining('the agent broke') },
    });
  });

  it('follows the Task of an agent whose connections are cut in the middle of the work', async () => {
    const agent = await startAgent();
    const runId = await startRun(agent, 'wait');
    await agent.executor.waits;
    const followed = Promise.race([agent.nextCall('subscribeToTask'), agent.nextCall('getTask')]);
    agent.cutConnections();
    await followed;
    agent.executor.release();
    expect(textOf((await api.ended(runId)).result)).toBe('waitwait');
    expect(agent.calls.filter(({ method }) => method.startsWith('send'))).toHaveLength(1);
  });

  it('follows the Task of an agent after a kill of the service', async () => {
    const agent = await startAgent();
    const runId = await startRun(agent, 'wait');
    await agent.executor.waits;
    await until(async () => (await api.run(runId)).nodes['x']?.taskId, { what: 'the Task to be known' });
    const { url } = parley;
    await parley.kill9();
    const followed = Promise.race([agent.nextCall('subscribeToTask'), agent.nextCall('getTask')]);
    const env = { PORT: new URL(url).port, NODE_EXTRA_CA_CERTS: join(folder, 'agents.pem') };
    parley = await startParley({ databaseUrl: database.url, env });
    await followed;
    agent.executor.release();
    expect(textOf((await api.ended(runId)).result)).toBe('waitwait');
    expect(agent.calls.filter(({ method }) => method.startsWith('send'))).toHaveLength(1);
  });

  it('calls the agent over TLS, and not where its certificate is of nobody', async () => {
    const cardUrl = (port: number) => `https://localhost:${port}`;
    const known = await startAgent({ tls, cardUrl });
    expect(textOf((await api.ended(await startRun(known, 'sealed'))).result)).toBe('sealedsealed');
    const stranger = await startAgent({ tls: selfMadeCertificate(), cardUrl });
    const { name } = await api.save(linear(unique('grpc'), external('x', stranger.url, { prompt: 'x', timeout: 600 })));
    const run = await api.ended(await api.start(name));
    expect(run.error?.message).toContain('no connection (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(stranger.calls).toEqual([]);
  });
});
