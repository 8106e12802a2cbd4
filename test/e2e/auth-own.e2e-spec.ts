import { rpc, sendParams, VERSION } from '../support/a2a.js';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { GatewayClient } from '../support/gateway-client.js';
import { useSharedStage } from '../support/shared-stage.js';
import { SseReader } from '../support/sse.js';
import { nobodys } from '../support/stranger.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, says, script, unique } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);
let anns: Api;
let eves: Api;
let waiting: string;

beforeAll(async () => {
  anns = new Api(stage.parley.url, ANN.headers);
  eves = new Api(stage.parley.url, EVE.headers);
  const { name } = await anns.save(linear(unique('asks'), input('in'), script('q', { ask: 'Which?' }), output('out')));
  waiting = await anns.start(name, { in: 'hi' });
  await anns.reached(waiting, ['input-required']);
});

describe('what a caller has', () => {
  it('has its own idempotency keys', async () => {
    const headers = { 'idempotency-key': unique('key') };
    const done = await anns.save(linear(unique('w'), input('in'), output('out')));
    const first = await anns.start(done.name, { in: 'a' }, headers);
    expect(await anns.start(done.name, { in: 'a' }, headers)).toBe(first);
    expect(await eves.start(done.name, { in: 'b' }, headers)).not.toBe(first);
    const params = sendParams('x');
    const send = async (caller: typeof ANN): Promise<unknown> =>
      (
        await rpc<{ task: { id: string } }>(anns.base(done.name), 'SendMessage', params, {
          headers: { ...caller.headers, ...headers, 'idempotency-key': 'same' },
        })
      ).body.result?.task.id;
    expect(await send(ANN)).toBe(await send(ANN));
    expect(await send(EVE)).not.toBe(await send(ANN));
  });

  it('is in no stream of the gateway, while one’s own is, with all that its runs call', async () => {
    const sse = await SseReader.open<{ taskId?: string; runId?: string }>(
      `${stage.parley.url}/api/events?streams=task,run`,
      {
        headers: EVE.headers,
      },
    );
    const socket = await GatewayClient.open(stage.parley.url, { streams: 'task,run' }, { headers: EVE.headers });
    const only = await GatewayClient.open(stage.parley.url, { runId: waiting }, { headers: EVE.headers });
    const done = await anns.save(linear(unique('w'), input('in'), script('s', ...says('x')), output('out')));
    const foreign = await anns.start(done.name, { in: 'a' });
    await anns.ended(foreign);
    const own = await eves.start(done.name, { in: 'b' });
    const run = await eves.ended(own);
    await anns.call('POST', `/runs/${waiting}/cancel`);
    const last = await eves.start(done.name, { in: 'c' });
    const isLast = (it: { type?: unknown; runId?: unknown }): boolean => it.type === 'done' && it.runId === last;
    await until(() => socket.events.some(isLast), { what: 'the own runs' });
    await until(() => sse.frames.some(({ data }) => isLast(data)), { what: 'the own runs by SSE' });
    const mine = new Set([own, last]);
    const nodes = new Set(
      [...Object.values(run.nodes), ...Object.values((await eves.ended(last)).nodes)].map((it) => it.taskId),
    );
    expect(nodes.has(undefined)).toBe(false);
    for (const frame of [...socket.events, ...sse.frames.slice(1).map(({ data }) => data)]) {
      expect(mine.has(String(frame.runId ?? frame.taskId)) || nodes.has(String(frame.taskId))).toBe(true);
    }
    for (const id of Object.values(run.nodes)) {
      expect(socket.events.some((it) => it.taskId === id.taskId)).toBe(true);
    }
    expect(only.events).toEqual([]);
    sse.abort();
    await Promise.all([socket.cut(), only.cut()]);
  });

  it('answers no stranger without credentials either', async () => {
    const response = await fetch(`${stage.parley.url}/a2a/tasks/${waiting}`, { headers: VERSION });
    const random = await fetch(`${stage.parley.url}/a2a/tasks/${nobodys(waiting)}`, { headers: VERSION });
    expect(response.status).toBe(401);
    expect(await response.text()).toBe(await random.text());
  });
});
