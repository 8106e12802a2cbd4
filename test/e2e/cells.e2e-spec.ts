import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeWithHaproxy, Haproxy } from '../support/haproxy.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ids, range, SseReader } from '../support/sse.js';
import { Api, linear, script, says, unique } from '../support/workflow.js';

const SCOPE = 'agents workflows admin';

describeWithHaproxy('deploy/cells: tenants are led to their cells', () => {
  const databases: TestDatabase[] = [];
  const cells: Parley[] = [];
  let provider: IdentityProvider;
  let haproxy: Haproxy;
  let url: string;

  beforeAll(async () => {
    provider = await IdentityProvider.start();
    url = `http://127.0.0.1:${await freePort()}`;
    databases.push(...(await Promise.all([freshDatabase(), freshDatabase()])));
    const start = (database: TestDatabase): Promise<Parley> =>
      startParley({ databaseUrl: database.url, env: provider.env() });
    cells.push(...(await Promise.all(databases.map(start))));
    haproxy = await Haproxy.start(configuration(), `${url}/health/live`);
  });

  afterAll(async () => {
    await haproxy?.stop();
    await Promise.all(cells.map((cell) => cell.stop()));
    await provider?.stop();
    await Promise.all(databases.map((database) => database.drop()));
  });

  /** What is shipped, with the addresses of this machine and one replica in each cell. */
  function configuration(): string {
    const shipped = readFileSync('deploy/cells/haproxy.cfg', 'utf8');
    const [a, b] = cells.map((cell) => new URL(cell.url).host);
    return shipped
      .replace('bind :8080', `bind ${new URL(url).host}`)
      .replaceAll('deploy/cells/', `${resolve('deploy/cells')}/`)
      .replace(/^ *server [ab]2 .*\n/gm, '')
      .replace('cell-a-1:3000', a!)
      .replace('cell-b-1:3000', b!);
  }

  const headers = (org: string): Promise<Record<string, string>> => provider.headers({ sub: 'ann', org, scope: SCOPE });

  /** A request that names another host than it is sent to. */
  async function at(host: string, path: string, org?: string): Promise<{ status?: number; text: string }> {
    const given = { host, ...(org !== undefined && (await headers(org))) };
    return new Promise((done, fail) => {
      const sent = request(`${url}${path}`, { headers: given }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk));
        response.on('end', () => done({ status: response.statusCode, text }));
      });
      sent.on('error', fail).end();
    });
  }

  const count = async (cell: number, name: string): Promise<number> =>
    (await databases[cell]!.query('SELECT 1 FROM workflow WHERE name = $1', [name])).length;

  it('by the claim of their tokens: what each makes is in its cell and in no other', async () => {
    for (const [org, own] of [
      ['acme', 0],
      ['globex', 1],
    ] as const) {
      const api = new Api(url, await headers(org));
      const { name } = await api.save(linear(unique(org), script('s', ...says(org))));
      expect([await count(own, name), await count(1 - own, name)]).toEqual([1, 0]);
      const runId = await api.start(name);
      const reader = await SseReader.open(`${url}/api/runs/${runId}/events`, { headers: await headers(org) });
      const frames = await reader.all();
      expect(ids(frames)).toEqual(range(1, frames.length));
      expect(await api.run(runId)).toMatchObject({ status: 'completed' });
    }
  });

  it('by the host, which is a cell’s or a tenant’s, also without a token', async () => {
    for (const [host, own] of [
      ['a.parley.example', 0],
      ['B.parley.example:8080', 1],
      ['globex.example', 1],
    ] as const) {
      const keys = await at(host, '/.well-known/jwks.json');
      expect(keys).toEqual({
        status: 200,
        text: await (await fetch(`${cells[own]!.url}/.well-known/jwks.json`)).text(),
      });
    }
    expect((await at('b.parley.example', '/api/workflows', 'globex')).status).toBe(200);
  });

  it('and nobody to a cell that is not theirs', async () => {
    const refused = [
      await at('parley.example', '/api/workflows', 'unheard-of'),
      await at('parley.example', '/api/workflows'),
      await at('a.parley.example', '/api/workflows', 'globex'),
      await at('a.parley.example', '/api/workflows', 'unheard-of'),
    ];
    expect(refused.map(({ status }) => status)).toEqual([421, 421, 421, 421]);
    expect(JSON.parse(refused[0]!.text)).toMatchObject({ status: 421, reason: 'UNKNOWN_CELL' });
  });

  it('and a cell that is down takes no other with it', async () => {
    await cells[0]!.stop();
    const b = new Api(url, await headers('globex'));
    expect((await b.call('GET', '/workflows')).status).toBe(200);
    const refused = await fetch(`${url}/api/workflows`, { headers: await headers('acme') });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ status: 503 });
  });
});
