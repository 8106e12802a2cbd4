import { status } from '@grpc/grpc-js';
import { detail, rest, rpc, sendParams, VERSION } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { GatewayClient, refusedUpgrade } from '../support/gateway-client.js';
import { GrpcWire } from '../support/grpc-wire.js';
import { metric } from '../support/service-metrics.js';
import { SseReader } from '../support/sse.js';
import { type Stage, useStage } from '../support/stage.js';
import { READY_OR_LATE } from '../support/until-ready.js';
import { until } from '../support/until.js';
import type { Endpoints } from '../support/wire-binding.js';
import { Api, echo, script, unique } from '../support/workflow.js';

/** A service with two callers and limits, an agent that answers at once, and one that takes its time. */
function useLimited(env: Record<string, string>) {
  const [ann, eve] = [testCaller('ann'), testCaller('eve')];
  const stage: Stage = useStage({ env: { ...apiKeyEnv(ann, eve), GRPC_PORT: '0', ...env } });
  const endpoints: Endpoints = { url: '', grpc: '' };
  const limited = { stage, ann, eve, base: '', slow: '', grpc: new GrpcWire(() => endpoints), path: '' };
  beforeAll(async () => {
    const api = new Api(stage.parley.url, ann.headers);
    const name = unique('limited');
    const slow = script('slow', { status: 'working' }, { sleep: 60_000 }, { complete: 'done' });
    await api.save({ name, nodes: [echo('echo'), slow], edges: [] });
    limited.base = api.base(name, 'echo');
    limited.slow = api.base(name, 'slow');
    limited.path = `workflows/${name}/nodes/slow`;
    const card = await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json();
    const { supportedInterfaces } = card as { supportedInterfaces: { url: string; protocolBinding: string }[] };
    endpoints.grpc = supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')!.url;
  });
  return limited;
}

async function refusals(url: string, reason: string): Promise<number> {
  return metric({ url }, 'parley_calls_refused_total', `reason="${reason}"`);
}

describe('RATE_LIMIT', () => {
  const it_ = useLimited({ RATE_LIMIT: '30/h' });

  it('is told in the shape of each surface, with when to come back, and other callers have theirs', async () => {
    const { stage, ann, eve, base } = it_;
    const { headers } = ann;
    const statuses = new Set<number>();
    for (let sent = 0; sent <= 30; sent += 1) statuses.add((await rest(base, 'GET', '/tasks', { headers })).status);
    expect([...statuses]).toEqual([200, 429]);

    const overRest = await rest(base, 'GET', '/tasks', { headers });
    expect(overRest).toMatchObject({ status: 429, body: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } } });
    expect(detail(overRest.body.error?.details, 'ErrorInfo')).toMatchObject({ reason: 'RATE_LIMITED' });
    const overRpc = await rpc(base, 'SendMessage', sendParams('x'), { headers });
    expect([overRpc.status, overRpc.body.jsonrpc, overRpc.body.error?.code]).toEqual([429, '2.0', -31429]);
    const legacy = await rpc(base, 'tasks/get', { id: 'x' }, { headers: { ...headers, 'a2a-version': '0.3' } });
    expect([legacy.status, legacy.body.error?.code]).toEqual([429, -31429]);
    const problem = await new Api(stage.parley.url, headers).call('GET', '/runs');
    expect([problem.status, problem.headers.get('content-type')]).toEqual([
      429,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect(problem.body).toMatchObject({ status: 429, detail: 'Too many requests; try again later' });
    for (const reply of [overRest, overRpc, legacy, problem]) {
      const seconds = Number(reply.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(120);
    }
    const overGrpc = await it_.grpc.refusal(it_.path, 'ListTasks', {}, headers);
    expect(overGrpc.code).toBe(status.RESOURCE_EXHAUSTED);
    expect((await refusedUpgrade(`${stage.parley.url}/events`, headers)).status).toBe(429);

    expect((await rest(base, 'GET', '/tasks', { headers: eve.headers })).status).toBe(200);
    expect(await refusals(stage.parley.url, 'rate')).toBeGreaterThanOrEqual(7);
  });

  it('limits nothing that is public', async () => {
    const { headers } = it_.ann;
    const paths = ['/health/live', '/metrics', '/.well-known/agent-card.json', '/docs-json'];
    const statusOf = async (path: string) => (await fetch(`${it_.stage.parley.url}${path}`, { headers })).status;
    for (let times = 0; times < 10; times++) {
      for (const path of paths) expect(await statusOf(path)).toBe(200);
      expect(READY_OR_LATE).toContain(await statusOf('/health/ready'));
    }
  });
});

describe('RATE_LIMIT without authentication', () => {
  const stage = useStage({ env: { RATE_LIMIT: '3/h' } });

  it('counts who says to be a replica as everybody at that address', async () => {
    const statuses: number[] = [];
    const replica: Record<string, string> = { authorization: 'Parley-Node x' };
    for (const headers of [{}, replica, {}, replica]) {
      statuses.push((await new Api(stage.parley.url, headers).call('GET', '/runs')).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe('CONCURRENCY_LIMIT', () => {
  const it_ = useLimited({ CONCURRENCY_LIMIT: '3' });

  it('lets go on what is under way, refuses more, and forgets what was answered', async () => {
    const { ann, eve, base, slow, stage } = it_;
    const cut = new AbortController();
    const wait = { method: 'POST', headers: { ...VERSION, ...ann.headers, 'content-type': 'application/json' } };
    const blocked = Array.from({ length: 3 }, () =>
      fetch(`${slow}/message:send`, { ...wait, body: JSON.stringify(sendParams('go')), signal: cut.signal }).catch(
        () => undefined,
      ),
    );
    const tasks = async () => (await rest(slow, 'GET', '/tasks', { headers: ann.headers })).status;
    const begun = async () => (await stage.database.query('SELECT FROM task')).length === 3;
    await until(begun, { what: 'three calls under way' });
    expect(await tasks()).toBe(429);
    expect((await rest(base, 'GET', '/tasks', { headers: eve.headers })).status).toBe(200);
    expect((await it_.grpc.refusal(it_.path, 'ListTasks', {}, ann.headers)).code).toBe(status.RESOURCE_EXHAUSTED);
    cut.abort();
    await Promise.all(blocked);
    await until(async () => (await tasks()) === 200, { what: 'the calls to be over' });
    expect(await refusals(stage.parley.url, 'concurrency')).toBeGreaterThan(0);
  });
});

describe('STREAM_LIMIT', () => {
  const it_ = useLimited({ STREAM_LIMIT: '2' });

  it('has costly requests take turns beside another caller, while small ones of both are answered', async () => {
    const { stage, ann, eve, base } = it_;
    const { url } = stage.parley;
    const waited = (): Promise<number> => metric({ url }, 'parley_requests_delayed_total');
    // As many characters as a body may have, in as many texts as take long to read.
    const members = Array.from({ length: 20_000 }, (_, index) => `"${index}":"${String.raw`\"`.repeat(80)}"`);
    const costly = (): Promise<number> =>
      fetch(`${url}/api/workflows/check`, {
        method: 'POST',
        headers: { ...eve.headers, 'content-type': 'application/json' },
        body: `{"name":"x","nodes":[],"edges":[],"more":{${members.join(',')}}}`,
      }).then(async (answer) => (await answer.text(), answer.status));
    const small = async ({ headers }: typeof ann): Promise<number> =>
      (await rest(base, 'POST', '/message:send', { headers, body: sendParams('x') })).status;
    expect(await waited()).toBe(0);

    let isOver = false;
    const ofAnn = (async (): Promise<number[]> => {
      const answers: number[] = [];
      while (!isOver) answers.push(await small(ann));
      return answers;
    })();
    const answers = await until(
      async () => {
        const round = await Promise.all([...Array.from({ length: 4 }, costly), small(eve)]);
        return (await waited()) > 0 && round;
      },
      { what: 'a request that waits for its turn' },
    );
    isOver = true;
    expect(answers).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(await ofAnn)).toEqual(new Set([200]));
  });

  const streamTo = (headers: Record<string, string>) =>
    SseReader.open(`${it_.slow}/message:stream`, {
      method: 'POST',
      headers: { ...VERSION, ...headers },
      body: sendParams('go'),
    });

  it('counts the streams of every kind together, and begins nothing for one that is refused', async () => {
    const { ann, eve, slow, base, stage } = it_;
    const { headers } = ann;
    const sse = await streamTo(headers);
    // What its Task says before it sleeps: nothing more of it is written afterwards.
    await sse.find(({ raw }) => raw.includes('TASK_STATE_WORKING'));
    const socket = await GatewayClient.open(stage.parley.url, {}, { headers });
    const before = await stage.database.counts();

    const overRest = await rest(slow, 'POST', '/message:stream', { headers, body: sendParams('go') });
    expect([overRest.status, overRest.headers.get('retry-after')]).toEqual([429, '5']);
    const overRpc = await rpc(slow, 'SendStreamingMessage', sendParams('go'), { headers });
    expect([overRpc.status, overRpc.body.error?.code]).toEqual([429, -31429]);
    expect((await it_.grpc.refusal(it_.path, 'SendStreamingMessage', sendParams('go'), headers)).code).toBe(8);
    expect((await new Api(stage.parley.url, headers).call('GET', '/events')).status).toBe(429);
    expect((await refusedUpgrade(`${stage.parley.url}/events`, headers)).status).toBe(429);
    expect(await stage.database.counts()).toEqual(before);

    expect((await rest(base, 'POST', '/message:send', { headers, body: sendParams('x') })).status).toBe(200);
    (await streamTo(eve.headers)).abort();
    sse.abort();
    await until(
      () =>
        streamTo(headers)
          .then((it) => (it.abort(), true))
          .catch(() => false),
      { what: 'a free place' },
    );
    await socket.cut();
    expect(await refusals(stage.parley.url, 'streams')).toBeGreaterThanOrEqual(5);
  });
});
