import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { signIn } from '../support/console-session.js';
import { ParleyCommand } from '../support/parley-command.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, unique } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);

function withKey(key: string): Api {
  return new Api(stage.parley.url, { 'x-api-key': key });
}

async function makeKey(name: string, scopes: string[]): Promise<{ name: string; key: string }> {
  return (await withKey(ANN.key).call<{ name: string; key: string }>('POST', '/keys', { name, scopes })).body;
}

/** Stores a key of a tenant, as if it had been applied under a mark. */
async function storeKey(tenant: string, mark: string): Promise<{ name: string; key: string; mark: string }> {
  const [key, name] = [`parley_${randomBytes(24).toString('hex')}`, unique('admin')];
  await stage.database.query(
    `INSERT INTO api_key (id, tenant, name, digest, scopes, mark)
     VALUES (gen_random_uuid(), $1, $2, $3, '{admin,agents,workflows}', $4)`,
    [tenant, name, createHash('sha256').update(key).digest('base64url'), mark],
  );
  return { name, key, mark };
}

/** Executes requests while a session holds the keys of a tenant, and releases the keys when all requests wait. */
async function meetAtKeys<T>(tenant: string, requests: (() => Promise<T>)[]): Promise<T[]> {
  const session = new pg.Client({ connectionString: stage.database.url });
  await session.connect();
  try {
    await session.query('BEGIN');
    await session.query('SELECT FROM api_key WHERE tenant = $1 FOR UPDATE', [tenant]);
    const replies = Promise.all(requests.map((request) => request()));
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const count = async (): Promise<number> => (await stage.database.query(waiting)).length;
    const met = until(async () => (await count()) === requests.length, { what: 'all requests to wait' });
    await Promise.race([met, replies.then((ended) => Promise.reject(new Error(JSON.stringify(ended))))]);
    await session.query('ROLLBACK');
    return await replies;
  } finally {
    await session.end();
  }
}

describe('keys in files', () => {
  const [secret, name] = [`parley_${randomBytes(24).toString('hex')}`, unique('partner')];
  const title = `key ${name}-${hashOf(secret).slice(0, 8)}`;
  let parley: ParleyCommand;

  beforeEach(() => {
    parley = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARLEY_API_KEY: ANN.key });
    mkdirSync(join(parley.folder, 'workflows/.parley'), { recursive: true });
  });

  afterEach(() => parley.end());

  const write = (...lines: string[]): void =>
    writeFileSync(join(parley.folder, 'workflows/key.yaml'), `kind: key\n${lines.join('\n')}\n`);

  it('admit a caller by the hash of its key, change its scopes, and are exported without a secret', async () => {
    write(`name: ${name}`, `hash: ${hashOf(secret)}`, 'scopes: [workflows, agents]');
    const checked = await parley.run('check');
    expect(checked).toMatchObject({ code: 0, out: '1 object checked, no problems found.\n' });
    expect(await parley.run('diff')).toMatchObject({ code: 2, out: `${title} is only in the files\n` });
    expect((await withKey(secret).call('GET', '/workflows')).status).toBe(401);
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `${title} created\n` });
    const workflow = linear(unique('w'), input('in'), output('out'));
    expect((await withKey(secret).call('PUT', `/workflows/${workflow.name}`, workflow)).status).toBeLessThan(300);
    expect((await parley.run('apply')).out).toBe(`${title} unchanged\n`);

    write(`name: ${name}`, `hash: ${hashOf(secret)}`);
    const differs = await parley.run('diff');
    expect(differs).toMatchObject({ code: 2, out: expect.stringContaining('scopes') as string });
    expect((await parley.run('apply')).out).toBe(`${title} updated\n`);
    expect((await withKey(secret).call('DELETE', `/workflows/${workflow.name}`)).status).toBe(403);

    const exported = await parley.run('export', title.replace(' ', '/'));
    expect(exported).toMatchObject({ code: 0, out: `${title} → workflows/key.yaml\n` });
    const file = readFileSync(join(parley.folder, 'workflows/key.yaml'), 'utf8');
    expect(file).toBe(`kind: key\nname: ${name}\nhash: ${hashOf(secret)}\nscopes:\n  - agents\n`);
    expect(JSON.stringify([checked, differs, exported, file])).not.toContain(secret);

    rmSync(join(parley.folder, 'workflows/key.yaml'));
    expect((await parley.run('apply', '--prune')).out).toBe(`${title} deleted\n`);
    expect((await withKey(secret).call('GET', '/workflows')).status).toBe(401);
    write(`name: ${name}`, `hash: ${hashOf(secret)}`);
    expect(await parley.run('apply', '--force')).toMatchObject({
      code: 2,
      err: expect.stringContaining('has ended: a file needs the hash of a new key') as string,
    });
  });

  it('take a scope from the sessions of the console that a key began', async () => {
    const scopes = 'scopes: [workflows, agents]';
    const [own, caller] = [`parley_${randomBytes(24).toString('hex')}`, unique('person')];
    write(`name: ${caller}`, `hash: ${hashOf(own)}`, scopes);
    expect((await parley.run('apply')).code).toBe(0);
    const session = new Api(stage.parley.url, (await signIn(stage.parley.url, { 'x-api-key': own })).headers);
    const workflow = linear(unique('w'), input('in'), output('out'));
    expect((await session.call('PUT', `/workflows/${workflow.name}`, workflow)).status).toBeLessThan(300);

    write(`name: ${caller}`, `hash: ${hashOf(own)}`, 'scopes: [agents]');
    expect((await parley.run('apply')).code).toBe(0);
    let seen: unknown;
    const isTaken = async (): Promise<boolean> => {
      seen = (await session.call('GET', '/session')).body;
      return JSON.stringify(seen).includes('"scopes":["agents"]');
    };
    await until(isTaken, { what: () => `the session to lose the scope: ${JSON.stringify(seen)}` });
    expect((await session.call('PUT', `/workflows/${workflow.name}`, workflow)).status).toBe(403);

    write(`name: ${caller}`, `hash: ${hashOf(own)}`, 'scopes: [agents, admin]');
    expect((await parley.run('apply')).code).toBe(0);
    expect((await session.call('GET', '/keys')).status).toBe(403);
  });

  it.each(['prune', 'demote'])('leave an admin key when two admins %s each other at once', async (action) => {
    const tenant = unique('tenant');
    const [one, other] = [await storeKey(tenant, 'one'), await storeKey(tenant, 'other')];
    const applied = (by: typeof one, to: typeof one): Promise<{ status: number; text: string }> => {
      const definition = { name: to.name, hash: hashOf(to.key), scopes: ['agents'] };
      const objects = action === 'prune' ? [] : [{ kind: 'key', definition }];
      const body = { workflows: [], objects, mark: to.mark, prune: action === 'prune' };
      return withKey(by.key).call('POST', '/apply', body);
    };
    const replies = await meetAtKeys(tenant, [() => applied(one, other), () => applied(other, one)]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(replies.find(({ status }) => status === 409)?.text).toContain('the last valid key with the scope admin');
    const admins = await stage.database.query(
      `SELECT name FROM api_key WHERE tenant = $1 AND 'admin' = ANY(scopes) AND ends_at IS NULL`,
      [tenant],
    );
    expect(admins).toHaveLength(1);
  });

  it('neither delete the key of the request, nor take the scope admin from it', async () => {
    const own = await makeKey(unique('deployer'), ['agents', 'workflows', 'admin']);
    const applied = (...args: string[]) => deployer.run('apply', '-f', join(parley.folder, 'workflows'), ...args);
    const deployer = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARLEY_API_KEY: own.key });
    try {
      write(`name: ${own.name}`, `hash: ${hashOf(own.key)}`, 'scopes: [admin, agents, workflows]');
      expect((await applied('--adopt')).out).toMatch(/ unchanged\n$/);
      write(`name: ${own.name}`, `hash: ${hashOf(own.key)}`, 'scopes: [workflows]');
      expect((await applied()).err).toContain('must keep the scope admin: this request uses it');
      rmSync(join(parley.folder, 'workflows/key.yaml'));
      expect((await applied('--prune', '--dry-run')).err).toContain('cannot be deleted: this request uses it');
      expect((await applied('--prune')).err).toContain('cannot be deleted: this request uses it');
      expect((await withKey(own.key).call('GET', '/keys')).status).toBe(200);
    } finally {
      deployer.end();
    }
  });

  it('are refused without the scope admin, with a wrong hash, and for the key of another caller', async () => {
    const writer = await makeKey(unique('writer'), ['agents', 'workflows']);
    const object = { kind: 'key', definition: { name: unique('x'), hash: hashOf(randomBytes(8).toString('hex')) } };
    const body = { workflows: [], objects: [object] };
    expect((await withKey(writer.key).call('POST', '/apply', body)).status).toBe(403);
    write(`name: ${name}`, 'hash: 0123');
    const problem = 'workflows/key.yaml:3 hash: must be the SHA-256 of the key in 64 lowercase hexadecimal digits';
    expect((await parley.run('check')).out).toContain(problem);
    expect((await parley.run('apply')).err).toContain(problem);
    write(`name: ${unique('other')}`, `hash: ${hashOf(writer.key)}`);
    expect((await parley.run('apply', '--adopt')).err).toContain('is that of a key of another caller');
  });
});

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
