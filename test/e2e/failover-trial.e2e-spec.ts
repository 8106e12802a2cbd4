import { grpcImpropriety, impropriety } from '../cluster/chaos/improper-answers.js';
import { commandOf, kindsOf, readOptions } from '../cluster/chaos/options.js';
import { faultPlan } from '../cluster/chaos/fault-plan.js';
import { overcalledAgents, QuestionLimits } from '../cluster/chaos/overcalls.js';
import { type Takeovers, thefts } from '../cluster/chaos/takeovers.js';
import { settlingMs } from '../cluster/chaos/settling.js';
import { type ClusterPlan, haproxySettings, patroniSettings, TIMING } from '../support/patroni/cluster-settings.js';

const PLAN: ClusterPlan = {
  folder: '/tmp/x',
  binaries: '/usr/lib/postgresql/15/bin',
  password: 'secret',
  etcdPort: 1,
  etcdPeerPort: 2,
  port: 3,
  nodes: [
    { name: 'alpha', port: 4, restPort: 5 },
    { name: 'beta', port: 6, restPort: 7 },
  ],
};

describe('the PostgreSQL cluster of `npm run chaos -- --faults failover`', () => {
  it('has a TTL that Patroni accepts, and that a living leader renews in time', () => {
    expect(TIMING.ttl).toBeGreaterThanOrEqual(20);
    expect(TIMING.loop_wait + 2 * TIMING.retry_timeout).toBeLessThanOrEqual(TIMING.ttl);
  });

  it('commits on both nodes, each of which listens on loopback alone', () => {
    const settings = PLAN.nodes.map((node) => patroniSettings(PLAN, node));
    const shared = { synchronous_mode: true, postgresql: { use_pg_rewind: true } };
    for (const [index, { name, port }] of PLAN.nodes.entries()) {
      const listen = `127.0.0.1:${port}`;
      expect(settings[index]).toMatchObject({ name, bootstrap: { dcs: shared }, postgresql: { listen } });
    }
    expect(JSON.stringify(settings)).not.toMatch(/0\.0\.0\.0|trust/);
  });

  it('is reached through a balancer that ends the sessions of who leads no more', () => {
    const lines = haproxySettings(PLAN).split('\n');
    expect(lines).toContain('  bind 127.0.0.1:3');
    expect(lines).toContain('  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions');
    expect(lines).toContain('  server alpha 127.0.0.1:4 check port 5');
    expect(lines).toContain('  server beta 127.0.0.1:6 check port 7');
  });
});

describe('its options', () => {
  it('--kills bounds it instead of minutes, and the command that repeats it says the same', () => {
    const options = readOptions(['--faults', 'failover', '--kills', '3', '--seed', '1']);
    expect(options).toMatchObject({ kills: 3, minutes: Infinity });
    expect(readOptions(commandOf(options).split(' ').slice(4))).toEqual(options);
  });

  it.each([
    ['--kills 3', /--kills goes with/],
    ['--faults failover,database', /failover, or database/],
    ['--faults failover,stall', /failover, or stall/],
    ['--faults kill,quake', /There is no fault "quake"/],
    ['--faults failover --kills 0', /--kills must be above 0/],
  ])('refuses %s', (args, reason) => {
    expect(() => readOptions(args.split(' '))).toThrow(reason);
  });
});

describe('the plan of faults of `npm run chaos`', () => {
  const plan = (seed: number, faults: string[]) =>
    faultPlan(seed, 600_000, kindsOf({ faults })).map(({ kind, title, atMs, target }) => [
      kind.name,
      title,
      atMs,
      target,
    ]);

  it('is the same for the same seed and kinds, and another one for another seed', () => {
    expect(plan(7, [])).toEqual(plan(7, []));
    expect(plan(7, [])).not.toEqual(plan(8, []));
  });

  it('has every kind that is asked for, and no other', () => {
    expect(new Set(plan(7, ['stall', 'clock', 'snapshot']).map(([kind]) => kind))).toEqual(
      new Set(['stall', 'clock', 'snapshot']),
    );
    expect(plan(7, ['failover'])).toEqual([]);
  });
});

describe('the count of calls beyond 1 + the takeovers of a Task', () => {
  const at = (second: number): string => new Date(second * 1000).toISOString();
  const note = (type: string, payload: object) => ({
    statusUpdate: { metadata: { 'parley/event': { type, node_id: 'n', payload } } },
  });
  const log = (taskId: string, ...events: object[]) => ({
    ...{ taskId, agent: 'a', state: 'TASK_STATE_COMPLETED' as const, lastSequence: events.length, claimed: false },
    events: events.map((event, index) => ({
      ...{ sequence: index + 1, json: JSON.stringify(event), at: at(10 + index), received: null },
    })),
  });
  const run = log('run', note('a2a.sending', { messageId: 'm' }));
  const asked = log('task', { task: { history: [{ messageId: 'q', parts: [{ text: 'why?' }] }] } });
  const taken = (taskId: string, ...seconds: number[]) =>
    new Map([[taskId, seconds.map((it) => ({ at: new Date(it * 1000), fromPid: null }))]]);

  it('lets an agent be called again once for each takeover since the call was recorded', () => {
    expect(overcalledAgents([run], new Map([['m', 2]]), taken('run', 11))).toEqual([]);
    expect(overcalledAgents([run], new Map([['m', 2]]), taken('run', 9))).toEqual([expect.stringContaining('2 times')]);
    expect(overcalledAgents([run], new Map([['m', 1]]), new Map())).toEqual([]);
  });

  const overcalledModel = (calls: number, takeovers: Takeovers): string[] => {
    const limits = new QuestionLimits(new Map([['why?', calls]]), takeovers);
    limits.raise(asked);
    return limits.exceeded();
  };

  it('lets a model be asked again once for each takeover of the Task that asks', () => {
    expect(overcalledModel(2, taken('task', 12))).toEqual([]);
    expect(overcalledModel(3, taken('task', 12))).toHaveLength(1);
    expect(overcalledModel(2, taken('run', 12))).toHaveLength(1);
  });
});

describe('the count of Tasks that were taken from a living replica', () => {
  const taken: Takeovers = new Map([['t', [{ at: new Date(5_000), fromPid: 7 }]]]);

  it('has those of a replica that nothing had happened to', () => {
    expect(thefts(taken, new Map())).toEqual([expect.stringContaining('process 7')]);
    expect(thefts(taken, new Map([[7, [{ from: new Date(6_000) }]]]))).toHaveLength(1);
  });

  it('has none of a replica that was broken before, or whose lock was free', () => {
    expect(thefts(taken, new Map([[7, [{ from: new Date(4_000) }]]]))).toEqual([]);
    expect(thefts(taken, new Map([[7, [{ from: new Date(4_000), until: new Date(5_500) }]]]))).toEqual([]);
    expect(thefts(taken, new Map([[7, [{ from: new Date(4_000), until: new Date(4_500) }]]]))).toHaveLength(1);
    expect(thefts(new Map([['t', [{ at: new Date(5_000), fromPid: null }]]]), new Map())).toEqual([]);
  });
});

describe('its report', () => {
  const answer = (status: number, text: string, headers: Record<string, string> = {}) => ({
    status,
    text,
    headers: new Headers({ 'content-type': 'application/json', ...headers }),
  });

  it.each([
    ['500', answer(500, '{}')],
    ['an internal error in HTTP 200', answer(200, '{"error":{"code":-32603,"message":"x"}}')],
    ['503 that does not say when to come back', answer(503, '{}')],
  ])('counts %s', (_name, improper) => {
    expect(impropriety(improper)).toEqual(expect.any(String));
  });

  it.each([
    ['503 with Retry-After', answer(503, '{"error":{"code":-32603}}', { 'retry-after': '1' })],
    ["the balancer's own words", answer(502, 'no answer', { 'content-type': 'text/plain' })],
    ['a refusal', answer(404, '{}')],
  ])('does not count %s', (_name, proper) => {
    expect(impropriety(proper)).toBeUndefined();
  });

  it('counts INTERNAL and UNKNOWN of gRPC, not UNAVAILABLE and DEADLINE_EXCEEDED', () => {
    expect([13, 2, 14, 4].map((code) => grpcImpropriety({ code }) !== undefined)).toEqual([true, true, false, false]);
  });

  it('measures a Task from its beginning or the last leader before its end', () => {
    const at = (second: number): string => new Date(second * 1000).toISOString();
    const leader = (second: number) => ({
      loss: 'killed' as const,
      lostAt: new Date(0),
      leaderAt: new Date(second * 1000),
    });
    const task = (from: number, to: number) => ({
      events: [from, to].map((second, index) => ({ sequence: index + 1, json: '', at: at(second), received: null })),
    });
    expect(settlingMs(task(100, 105), [leader(50), leader(200)])).toBe(5_000);
    expect(settlingMs(task(100, 190), [leader(50), leader(160)])).toBe(30_000);
  });
});
