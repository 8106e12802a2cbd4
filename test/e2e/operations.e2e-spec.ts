import { connect } from 'node:net';
import { documentedMetrics } from '../support/documented-metrics.js';
import { answers, ends, holds } from '../support/fake-behaviour.js';
import { startParley, startRefused } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { untilReady } from '../support/until-ready.js';
import { until } from '../support/until.js';
import { Api, echo, external, linear, unique } from '../support/workflow.js';

const stage = useStage();

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, unknown>>;
}

describe('operations', () => {
  it('one line says that it is ready, and where', () => {
    const lines = stage.parley
      .stdout()
      .split('\n')
      .filter((line) => line.includes('Parley is ready on'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/Parley is ready on http:\/\/127\.0\.0\.1:\d+/);
  });

  it.each(['live', 'startup'])('/health/%s is 200', async (probe) => {
    expect((await fetch(`${stage.parley.url}/health/${probe}`)).status).toBe(200);
  });

  it('/health/ready is 200', async () => void (await untilReady(stage.parley)));

  it('/metrics is Prometheus text that counts tasks, journal batches and outbound calls', async () => {
    const fake = await stage.fake();
    await stage.api.finish(linear(unique('metrics'), external('x', fake.url)));
    const response = await fetch(`${stage.parley.url}/metrics`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    for (const line of text.split('\n'))
      expect(line).toMatch(/^$|^# (HELP|TYPE) |^[a-zA-Z_:][\w:]*(\{.*\})? [-+\w.]+$/);
    for (const subject of [/^\w*task\w*(\{|\s)/m, /^\w*journal\w*batch\w*(\{|\s)/m, /^\w*outbound\w*(\{|\s)/m])
      expect(text).toMatch(subject);
  });

  it('docs/OBSERVABILITY.md lists the metrics that there are, with their types', async () => {
    const text = await (await fetch(`${stage.parley.url}/metrics`)).text();
    const told = [...text.matchAll(/^# TYPE (parley_\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    const documented = documentedMetrics().map(({ name, type }) => `${name} ${type}`);
    expect(documented.toSorted()).toEqual(told.toSorted());
  });

  it('/metrics counts each run once by its outcome, and tells how long its nodes took', async () => {
    const broken = (await stage.fake()).always(ends('TASK_STATE_FAILED', 'out of ink'));
    const [good, bad] = [linear(unique('good'), echo('a')), linear(unique('bad'), external('x', broken.url))];
    await Promise.all([stage.api.finish(good), stage.api.finish(bad)]);
    await stage.api.ended(await stage.api.start(good.name));
    const labels = (name: string, outcome: string): string => `workflow="${name}",outcome="${outcome}"`;
    const count = (name: string, of: string): Promise<number> => metric(stage.parley, name, of);
    // A run is counted a moment after its end can be read.
    for (const [name, outcome, runs] of [
      [bad.name, 'failed', 1],
      [good.name, 'completed', 2],
    ] as const)
      await until(async () => (await count('parley_runs_total', labels(name, outcome))) >= runs, {
        what: `${runs} ends of ${name} to be counted`,
      });
    expect(await count('parley_runs_total', `workflow="${good.name}"`)).toBe(2);
    expect(await count('parley_run_duration_seconds_count', labels(good.name, 'completed'))).toBe(2);
    expect(await count('parley_node_duration_seconds_count', 'type="external",outcome="failed"')).toBe(1);
    expect(await count('parley_outbound_duration_seconds_count', '')).toBeGreaterThan(0);
  });

  it('/docs is there, and its OpenAPI document names every route of /api that is served, and no other', async () => {
    expect((await fetch(`${stage.parley.url}/docs`)).status).toBe(200);
    const document = await openApi();
    const routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(document.openapi).toMatch(/^3\./);
    expect(routes.filter((route) => route.includes('/api/')).map((route) => route.replace(/\{\w+\}/g, '{}'))).toEqual(
      expect.arrayContaining([
        'POST /api/workflows',
        'GET /api/workflows',
        'GET /api/workflows/{}',
        'PUT /api/workflows/{}',
        'DELETE /api/workflows/{}',
        'POST /api/workflows/{}/run',
        'POST /api/workflows/{}/runs',
        'GET /api/runs',
        'GET /api/runs/{}',
        'GET /api/runs/{}/events',
        'POST /api/runs/{}/cancel',
        'GET /api/events',
      ]),
    );
    // A stream without an end has nothing to read to its end.
    for (const route of routes.filter((it) => it.includes(' /api/') && it !== 'GET /api/events')) {
      const [method = '', path = ''] = route.split(' ');
      const reply = await stage.api.call(
        method,
        // A cursor that is none keeps a stream from being opened.
        `${path.replace('/api', '').replace(/\{\w+\}/g, 'nope')}${method === 'GET' ? '?since=*' : ''}`,
        method === 'GET' || method === 'DELETE' ? undefined : '{',
      );
      expect({ route, text: reply.text.match(/cannot (get|post|put|delete)|route .* not found/i) }).toEqual({
        route,
        text: null,
      });
      expect(reply.status).not.toBe(405);
      expect(reply.status).toBeLessThan(500);
    }
  });

  it('bad configuration stops the start: one line per bad key, no value shown', async () => {
    const secret = 'hunter2hunter2';
    const { code, logs } = await startRefused({
      env: {
        PORT: `port-${secret}`,
        DATABASE_URL: `mysql://user:${secret}@db/x`,
        NODE_DISPATCH: `teleport-${secret}`,
        BODY_LIMIT: `lots-${secret}`,
      },
    });
    expect(code).not.toBe(0);
    for (const key of ['PORT', 'DATABASE_URL', 'NODE_DISPATCH', 'BODY_LIMIT']) {
      expect(logs.split('\n').filter((line) => new RegExp(`(^|[^A-Z_])${key}\\b`).test(line))).toHaveLength(1);
    }
    expect(logs).not.toContain(secret);
    expect(logs).not.toContain('is ready');
  });

  it('AUTH_MODE none on an address that others reach refuses to start unless it is asked for', async () => {
    const refused = await startRefused({
      databaseUrl: stage.database.url,
      env: { HOST: '0.0.0.0', AUTH_MODE: 'none' },
    });
    expect(refused.code).not.toBe(0);
    expect(refused.logs).toContain('AUTH_ALLOW_ANONYMOUS');
    const asked = await startParley({
      databaseUrl: stage.database.url,
      env: { HOST: '0.0.0.0', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'true' },
    });
    expect(await asked.stop()).toBe(0);
  });

  it('a database that is not there stops the start with a sentence, without its password', async () => {
    const { code, logs } = await startRefused({
      databaseUrl: 'postgresql://parley:hunter2@127.0.0.1:1/parley',
    });
    expect(code).not.toBe(0);
    expect(logs).not.toContain('hunter2');
    expect(logs).not.toContain('is ready');
  });

  it('SIGTERM: exit 0, streams end where they can be resumed, and the run ends after the next start', async () => {
    const database = await freshDatabase();
    const first = await startParley({ databaseUrl: database.url, env: { SHUTDOWN_GRACE: '1' } });
    const api = new Api(first.url);
    const fake = await stage.fake({ streaming: true });
    fake.always(holds('done'));
    const workflow = await api.save(linear(unique('term'), external('slow', fake.url), echo('b')));
    const stream = await api.stream(workflow.name);
    const { data } = await stream.find(({ event }) => event === 'a2a.sending');
    await fake.sent();
    expect(await first.stop()).toBe(0);
    const seen = (await stream.all().catch(() => stream.frames)).at(-1);
    // Whoever goes on calls it anew where the one that has stopped had not yet heard of its Task.
    fake.always(answers('done')).release();
    const second = await startParley({ databaseUrl: database.url });
    const rest = await (await new Api(second.url).events(data.runId, seen?.id)).all();
    expect(Number(rest[0]?.id)).toBe(Number(seen?.id) + 1);
    expect(rest.at(-1)?.event).toBe('done');
    await second.stop();
    await database.drop();
  });

  it('SIGTERM within the grace time lets running work finish, refuses new work, and says not ready', async () => {
    const database = await freshDatabase();
    const parley = await startParley({ databaseUrl: database.url, env: { SHUTDOWN_GRACE: '120' } });
    const api = new Api(parley.url);
    const fake = await stage.fake({ streaming: true });
    fake.always(holds('in time'));
    const workflow = await api.save(linear(unique('grace'), external('x', fake.url)));
    const runId = await api.start(workflow.name);
    await fake.sent();
    const stopped = parley.stop();
    await until(async () => (await statusOf(`${parley.url}/health/ready`)) !== 200, { what: 'ready to turn' });
    expect([0, 503]).toContain(await statusOf(`${parley.url}/health/ready`));
    expect([0, 503]).toContain(await statusOf(`${parley.url}/api/workflows/${workflow.name}/runs`, 'POST'));
    fake.release();
    expect(await stopped).toBe(0);
    const [row] = await database.query<{ state: string }>(
      "SELECT to_jsonb(t)->>'state' AS state FROM task t WHERE to_jsonb(t)::text LIKE $1",
      [`%${runId}%`],
    );
    expect(row?.state).toMatch(/completed/i);
    await database.drop();
  });

  it('two services that start at once on an empty database both come up', async () => {
    const database = await freshDatabase({ empty: true });
    const both = await Promise.all([
      startParley({ databaseUrl: database.url }),
      startParley({ databaseUrl: database.url }),
    ]);
    const workflow = await new Api(both[0]?.url ?? '').save(linear(unique('two'), echo('a')));
    expect((await new Api(both[1]?.url ?? '').call('GET', `/workflows/${workflow.name}`)).status).toBe(200);
    for (const parley of both) await parley.stop();
    await database.drop();
  });

  it('a connection that says nothing holds nothing up', async () => {
    const socket = connect(Number(new URL(stage.parley.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    expect((await fetch(`${stage.parley.url}/health/live`)).status).toBe(200);
    socket.destroy();
  });
});

async function openApi(): Promise<OpenApi> {
  for (const place of ['/docs-json', '/docs/json', '/docs/openapi.json', '/openapi.json', '/docs.json']) {
    const response = await fetch(`${stage.parley.url}${place}`);
    if (response.status === 200 && response.headers.get('content-type')?.includes('json'))
      return (await response.json()) as OpenApi;
  }
  throw new Error('No OpenAPI document beside /docs');
}

/** The status of an answer; 0 where there is none any more. */
async function statusOf(url: string, method = 'GET'): Promise<number> {
  return fetch(url, { method }).then(
    (response) => response.status,
    () => 0,
  );
}
