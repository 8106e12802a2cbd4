import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';

const NAME = 'parley_template';

/**
 * Boots the service once on an empty database so that every test file can copy the migrated schema.
 * Gives the template's name, or `undefined` where the service does not come up: each file then migrates its own.
 */
export async function migrateTemplate(serverUrl, main) {
  await recreate(serverUrl);
  const url = new URL(serverUrl);
  url.pathname = `/${NAME}`;
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
  const migrated = await untilReady(service.stdout);
  service.kill(migrated ? 'SIGTERM' : 'SIGKILL');
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit');
  return migrated ? NAME : undefined;
}

async function recreate(serverUrl) {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${NAME} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${NAME}`);
  await client.end();
}

/** Whether the service says within a minute that it is ready. What it says after that is read too. */
function untilReady(stdout) {
  return new Promise((resolve) => {
    let text = '';
    const limit = setTimeout(() => resolve(false), 60_000);
    const settle = (isReady) => {
      clearTimeout(limit);
      resolve(isReady);
    };
    stdout.setEncoding('utf8').on('data', (chunk) => {
      text = `${text}${chunk}`.slice(-1_000);
      if (text.includes('Parley is ready on')) settle(true);
    });
    stdout.once('close', () => settle(false));
  });
}
