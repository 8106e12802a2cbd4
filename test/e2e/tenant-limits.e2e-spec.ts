import type { JsonObject } from '#libs/protocol';
import { useTenants } from '../support/tenant-stage.js';
import type { Api } from '../support/workflow.js';

const tenants = useTenants();

const model = (name: string): JsonObject => ({ name, provider: 'openai', model: 'large' });
const server = (name: string): JsonObject => ({ name, url: 'http://127.0.0.1:9/mcp' });
const credential = (name: string): JsonObject => ({ name, kind: 'bearer', token: 't0k3n' });

/** Each list of a tenant: where it is, what it holds, how many there may be, and how many of them a statement makes. */
const LISTS = [
  [
    '/models',
    'models',
    model,
    1_000,
    `INSERT INTO model (tenant, name, provider, model, input)
    SELECT $1, 'n' || to_char(n, 'FM0000'), 'openai', 'large', '[]' FROM generate_series(1, $2) AS n`,
  ],
  [
    '/credentials',
    'credentials',
    credential,
    500,
    `INSERT INTO credential (tenant, name, settings, secret, version)
    SELECT $1, 'n' || to_char(n, 'FM0000'), '{"kind":"bearer"}', 'sealed', gen_random_uuid() FROM generate_series(1, $2) AS n`,
  ],
  [
    '/mcp-servers',
    'servers',
    server,
    200,
    `INSERT INTO mcp_server (tenant, name, url)
    SELECT $1, 'n' || to_char(n, 'FM0000'), 'http://127.0.0.1:9/mcp' FROM generate_series(1, $2) AS n`,
  ],
] as const;

describe.each(LISTS)('the list %s of a tenant', (path, member, body, most, fill) => {
  it('takes as many as there may be, refuses one more with a sentence, and shows them in pages', async () => {
    const tenant = `full_${member}`;
    const api = await tenants.caller('ann', tenant);
    await tenants.stage.database.query(fill, [tenant, most - 1]);
    expect((await api.call('POST', path, body('z_last'))).status).toBe(201);
    const refused = await api.call<{ detail: string }>('POST', path, body('more'));
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining(`at most ${most}`)]);
    expect((await (await tenants.caller('ann', 'another')).call('POST', path, body('more'))).status).toBe(201);
    const whole = await page(api, path, member, '');
    expect([whole.names.length, whole.next]).toEqual([most, '']);
    const [first, second] = [
      await page(api, path, member, '?pageSize=7'),
      await page(api, path, member, '?pageSize=7&pageToken=n0007'),
    ];
    expect([first.names.length, first.next, second.names[0]]).toEqual([7, 'n0007', 'n0008']);
  });

  it('still shows more of them than there may be, page by page', async () => {
    const tenant = `over_${member}`;
    const api = await tenants.caller('ann', tenant);
    await tenants.stage.database.query(fill, [tenant, most + 20]);
    const first = await page(api, path, member, '');
    expect([first.names.length, first.next]).toEqual([most, first.names.at(-1)]);
    const second = await page(api, path, member, `?pageToken=${first.next}`);
    expect([second.names.length, second.next]).toEqual([20, '']);
    for (const query of ['?pageSize=0', `?pageSize=${most + 1}`, '?pageToken=a/b'])
      expect((await api.call('GET', `${path}${query}`)).status).toBe(400);
  });
});

async function page(api: Api, path: string, member: string, query: string): Promise<{ names: string[]; next: string }> {
  const { body } = await api.call<Record<string, { name: string }[]> & { nextPageToken: string }>('GET', path + query);
  return { names: body[member]!.map(({ name }) => name), next: body.nextPageToken };
}
