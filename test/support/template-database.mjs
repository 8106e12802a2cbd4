import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { askTheUsual } from './usual-requests.mjs';

const NAME = 'parley_template';
const FIRST = 'parley_first';
/** Maximum milliseconds until the service is ready, or has ended. */
const LIMIT = 180_000;

/**
 * Starts the service once on an empty database, so that every test file can copy the migrated schema. Returns the name
 * of this template; `undefined` if the service does not start: each file then migrates its own database.
 */
export async function migrateTemplate(serverUrl, main) {
  // What it has compiled by its end, no other start compiles again; what it stored is no template.
  await serve(serverUrl, FIRST, main, askTheUsual);
  await administer(serverUrl, `DROP DATABASE ${FIRST} WITH (FORCE)`);
  if (!(await serve(serverUrl, NAME, main))) return undefined;
  await forgetStart(serverUrl);
  return NAME;
}

/** Removes from the template what the start enqueued and the end left undone, and the identity of the database. */
async function forgetStart(serverUrl) {
  const url = new URL(serverUrl);
  url.pathname = `/${NAME}`;
  await administer(url.href, 'DELETE FROM graphile_worker._private_jobs', 'DELETE FROM installation');
}

/** Runs the service on a new database from its start to its end. @returns true if it became ready */
async function serve(serverUrl, name, main, use = async () => undefined) {
  await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const service = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: url.href,
      LOG_LEVEL: 'error',
      ...(process.env.PARLEY_TEST_COMPILED && { NODE_COMPILE_CACHE: process.env.PARLEY_TEST_COMPILED }),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const address = await untilReady(service.stdout);
  if (address !== undefined) await use(address);
  service.kill(address === undefined ? 'SIGKILL' : 'SIGTERM');
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit');
  return address !== undefined;
}

async function administer(serverUrl, ...statements) {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Returns the service's address if it reports readiness within a minute. Later output is read, too. */
function untilReady(stdout) {
  return new Promise((resolve) => {
    let text = '';
    const limit = setTimeout(() => settle(undefined), LIMIT);
    const settle = (address) => {
      clearTimeout(limit);
      resolve(address);
    };
    stdout.setEncoding('utf8').on('data', (chunk) => {
      text = `${text}${chunk}`.slice(-1_000);
      const [, address] = /Parley is ready on (\S+)\n/.exec(text) ?? [];
      if (address !== undefined) settle(address);
    });
    stdout.once('close', () => settle(undefined));
  });
}
