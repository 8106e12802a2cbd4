import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DebianPostgres, describeWithDebianPostgres } from '../support/debian-postgres.js';
import { type Parley, startParley } from '../support/parley.js';
import { type Ended, ParleyCommand } from '../support/parley-command.js';
import { openDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, unique } from '../support/workflow.js';

const key = (): string => randomBytes(32).toString('base64');
const PASSWORD = `password-${randomBytes(8).toString('hex')}`;
const TOKEN = `token-${randomBytes(8).toString('hex')}`;

/** One service for all of it, whose start takes most of the time. */
describeWithDebianPostgres('parley backup and restore', () => {
  const credentialsKey = key();
  const name = unique('kept');
  let server: DebianPostgres;
  let url: string;
  let parley: Parley;
  let command: ParleyCommand;
  let waiting: string;
  let ended: string;

  const at = (databaseUrl: string, ...args: string[]): Promise<Ended> =>
    as({ DATABASE_URL: databaseUrl, CREDENTIALS_KEY: credentialsKey }, ...args);

  const file = (dump: string): string => join(command.folder, dump);

  /** With another environment, and its files beside those of the others. */
  async function as(env: Record<string, string>, ...args: string[]): Promise<Ended> {
    const other = new ParleyCommand(env);
    try {
      return await other.run(...args.map((it) => (it.endsWith('.dump') ? file(it) : it)));
    } finally {
      other.end();
    }
  }

  /** Ctrl-C, once the command's program waits for somebody else's lock in the database. */
  async function interrupted(databaseUrl: string, ...args: string[]): Promise<Ended> {
    const other = new ParleyCommand({ DATABASE_URL: databaseUrl });
    const { query, end } = openDatabase(databaseUrl);
    try {
      const going = other.start(...args);
      const waits = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name ~ '^pg_'`;
      await until(async () => (await query(waits)).length > 0, { what: `${args.join(' ')} to wait for a lock` });
      going.child.kill('SIGINT');
      return await going.ended();
    } finally {
      await end();
      other.end();
    }
  }

  async function tables(databaseUrl: string): Promise<string[]> {
    const { query, end } = openDatabase(databaseUrl);
    const rows = await query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace::regnamespace::text !~ '^(pg_|info)'`,
    );
    await end();
    return rows.map((row) => row.name);
  }

  beforeAll(async () => {
    server = await DebianPostgres.start();
    command = new ParleyCommand({});
    url = await server.database(PASSWORD);
    parley = await startParley({ databaseUrl: url, env: { CREDENTIALS_KEY: credentialsKey } });
    const api = new Api(parley.url);
    const gate = { id: 'gate', type: 'human', config: { prompt: 'Shall it?' } };
    await api.save(linear(name, input('in'), gate, output('out', { prompt: 'It said {{gate}}' })));
    await api.save(linear(`${name}_short`, input('in'), output('out', { prompt: '{{in}}' })));
    waiting = await api.start(name, { in: 'a' });
    await until(async () => (await api.run(waiting)).status === 'input-required', { what: 'the question' });
    ended = await api.start(`${name}_short`, { in: 'said' });
    await api.ended(ended);
    const body = { name: 'partner', kind: 'bearer', token: TOKEN };
    const made = await api.call('POST', '/credentials', body);
    expect(`${made.status} ${made.text}`).toMatch(/^201 /);
    // Of nobody's sealing: what an earlier version kept under a key of its own.
    const { query, end } = openDatabase(url);
    await query(
      `INSERT INTO signing_key (kid, purpose, public_key, signs, sealed_private_key) VALUES ('x', 'old', '{}', true, '1.ff.x')`,
    );
    await end();
  });

  afterAll(async () => {
    command?.end();
    await parley?.stop();
    await server?.stop();
  });

  it('writes a file that only this user reads, while the service goes on', async () => {
    const made = await at(url, 'backup', 'one.dump', '--json');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(made.out)).toEqual({
      file: file('one.dump'),
      bytes: statSync(file('one.dump')).size,
      postgres: expect.any(Number) as number,
      secrets: { withKey: 1, withDatabase: 0, unreadable: 1 },
    });
    expect((statSync(file('one.dump')).mode & 0o777).toString(8)).toBe('600');
    expect(readFileSync(file('one.dump')).includes(TOKEN)).toBe(false);
    const again = await at(url, 'backup', 'one.dump');
    expect(again).toMatchObject({ code: 2, out: '' });
    expect(again.err).toContain('already exists');
  });

  it('restores into an empty database, where another service goes on with it', async () => {
    const target = await server.database(PASSWORD);
    const restored = await as({ DATABASE_URL: target, CREDENTIALS_KEY: key() }, 'restore', 'one.dump');
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.out).toMatch(/^\d+ tables restored/);
    expect(restored.err).toContain('No known key decrypts 2 secrets');
    expect(restored.err).toContain('resumes the runs that were active');
    const other = await startParley({ databaseUrl: target, env: { CREDENTIALS_KEY: credentialsKey } });
    try {
      const api = new Api(other.url);
      expect(await api.run(ended)).toMatchObject({ status: 'completed', result: [{ parts: [{ text: 'said' }] }] });
      const answered = await api.call('POST', `/runs/${waiting}/answers`, { node: 'gate', parts: [{ text: 'yes' }] });
      expect(answered.status).toBe(202);
      expect((await api.ended(waiting)).result?.[0]?.parts[0]?.text).toBe('It said yes');
      expect((await api.call('GET', '/credentials')).text).toContain('partner');
    } finally {
      await other.stop();
    }
  });

  it('refuses a database with anything in it, such as one that a service uses', async () => {
    const before = await tables(url);
    const busy = await at(url, 'restore', 'one.dump');
    expect(busy).toMatchObject({ code: 1, out: '' });
    expect(busy.err).toContain(`The database is not empty (${before.length} tables), and nothing was changed.`);
    expect(await tables(url)).toEqual(before);
    expect((await new Api(parley.url).run(ended)).status).toBe('completed');
  });

  it('restores all of it or nothing, and all of it at the next attempt', async () => {
    const target = await server.database(PASSWORD);
    const whole = readFileSync(file('one.dump'));
    writeFileSync(file('cut.dump'), whole.subarray(0, -100));
    const cut = await at(target, 'restore', 'cut.dump');
    expect(cut).toMatchObject({ code: 1, out: '' });
    expect(cut.err).toMatch(/end of file|could not read/);
    expect(await tables(target)).toEqual([]);
    expect(await at(target, 'restore', 'one.dump')).toMatchObject({ code: 0 });
    expect(await tables(target)).toHaveLength((await tables(url)).length);
  });

  it('leaves nothing behind after Ctrl-C', async () => {
    const holder = await server.session(url);
    await holder.query('BEGIN; LOCK TABLE workflow IN ACCESS EXCLUSIVE MODE');
    const stopped = await interrupted(url, 'backup', file('stopped.dump'));
    await holder.end();
    expect(stopped).toMatchObject({ code: 130, out: '' });
    expect(readdirSync(command.folder).filter((it) => it.startsWith('stopped'))).toEqual([]);

    const target = await server.database(PASSWORD);
    const other = await server.session(target);
    await other.query('BEGIN; CREATE TABLE workflow (id int)');
    expect(await interrupted(target, 'restore', file('one.dump'))).toMatchObject({ code: 130, out: '' });
    await other.end();
    expect(await tables(target)).toEqual([]);
  });

  it('leaves out the keys of the service where it is told to, also of one of an earlier version', async () => {
    const made = await at(url, 'backup', 'keyless.dump', '--without-keys');
    expect(made).toMatchObject({ code: 0 });
    expect(made.err).toContain('CREDENTIALS_KEY decrypts 1 of its secrets');
    expect(made.err).not.toContain('protect it like a secret');
    const target = await server.database(PASSWORD);
    expect(await at(target, 'restore', 'keyless.dump')).toMatchObject({ code: 0 });
    const { query, end } = openDatabase(target);
    expect(await query('SELECT count(*)::int AS n FROM service_secret')).toEqual([{ n: 0 }]);
    await query('DROP TABLE credential, service_secret');
    await query('ALTER TABLE push_config DROP COLUMN secrets');
    await end();
    const earlier = await at(target, 'backup', 'earlier.dump', '--json');
    expect(earlier).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(earlier.out)).toMatchObject({ secrets: { withKey: 0, withDatabase: 0, unreadable: 1 } });
  });

  it('says what is wrong with a file, a database or the settings, and never the password', async () => {
    const empty = await server.database(PASSWORD);
    writeFileSync(file('taken.dump.part'), '');
    const answers = [
      await at(url, 'restore', 'none.dump'),
      await at(empty, 'backup', 'two.dump'),
      await at(url.replace(/:\d+\//, ':1/'), 'backup', 'two.dump'),
      await at('http://wrong', 'backup', 'two.dump'),
      await at(empty, 'restore', resolve('package.json')),
      await at(url, 'backup', 'taken.dump'),
      await at(`${url}?password=${PASSWORD}&nonsense=1`, 'backup', 'two.dump'),
    ];
    const said = answers.map(({ code, out, err }) => `${code} ${out}${err.trim()}`);
    expect(said).toEqual([
      expect.stringMatching(/^2 parley: .*none\.dump does not exist\.$/),
      '1 parley: There is no service in this database yet.',
      expect.stringMatching(/^1 parley: DATABASE_URL: connect ECONNREFUSED/),
      '2 parley: DATABASE_URL: must be a postgres:// URL',
      expect.stringMatching(/^2 parley: \/.*package\.json: .*input file does not appear to be a valid archive/),
      expect.stringMatching(/^2 parley: .*taken\.dump\.part exists: another backup is writing it/),
      expect.stringMatching(/^1 Writing .* …\nparley: pg_dump: .*invalid URI query parameter: "nonsense"/),
    ]);
    expect(said.join('\n')).not.toContain(PASSWORD);
    expect(existsSync(file('two.dump'))).toBe(false);
  });
});
