import 'reflect-metadata';
import { join } from 'node:path';
import { copyBuiltService } from '../../support/built-service.mjs';
import { OwnPostgres } from '../../support/own-postgres.js';
import { startParley } from '../../support/parley.js';
import { freshDatabase } from '../../support/postgres.js';
import { installPythonPackages, whyNoPython } from '../../support/python-packages.js';
import { beginCaller } from '../fuzz-caller.js';
import { type AuthMode, type FuzzOptions, readOptions } from '../options.js';
import { runSchemathesis } from './schemathesis-run.js';

/**
 * Runs schemathesis against the OpenAPI document of the service, in each mode of authentication. Exits with 0 only if
 * every check passed, and no service ended or logged an error.
 */
const HOME = join(import.meta.dirname, 'node_modules', '.python');
const LOCK = join(import.meta.dirname, 'requirements.txt');

const missing = whyNoPython();
if (missing !== undefined) {
  say(`npm run fuzz -- api is skipped: ${missing}.`);
  process.exit(0);
}
const options = readOptions(process.argv.slice(2));
const bin = installPythonPackages(LOCK, HOME);
process.env['PARLEY_TEST_MAIN'] = copyBuiltService();
const postgres = await OwnPostgres.start();
process.env['PARLEY_TEST_POSTGRES'] = postgres.url;
let cases = 0;
try {
  for (const auth of options.auth) cases += await fuzzMode(auth, options);
} finally {
  await postgres.stop();
}
say(`npm run fuzz -- api --seed ${options.seed}: ${cases} cases${process.exitCode ? ', with faults' : ', no fault'}`);

/** Sends one service its share of the cases. @returns their number */
async function fuzzMode(auth: AuthMode, { seed, cases: wanted, auth: modes }: FuzzOptions): Promise<number> {
  const database = await freshDatabase({ empty: true });
  const caller = await beginCaller(auth);
  const env = { ...caller.env, BODY_LIMIT: '256kb', LOG_LEVEL: 'error' };
  const service = await startParley({ databaseUrl: database.url, env });
  try {
    const casesPerOperation = Math.ceil(wanted / modes.length / (await countOperations(service.url)));
    const token = tokenIn(caller.headers);
    const outcome = await runSchemathesis({ bin, url: service.url, seed, casesPerOperation, ...(token && { token }) });
    const errors = service
      .logs()
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line));
    if (!outcome.passed || !service.running() || errors.length > 0) {
      say(`${outcome.output}\n${errors.join('\n')}`);
      process.exitCode = 1;
    }
    say(`AUTH_MODE=${auth}: ${outcome.cases} cases, ${outcome.passed ? 'all checks passed' : 'checks failed'}`);
    return outcome.cases;
  } finally {
    await service.stop();
    await caller.stop();
    await database.drop();
  }
}

function tokenIn(headers: Readonly<Record<string, string>>): string | undefined {
  return /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1];
}

async function countOperations(url: string): Promise<number> {
  const document = (await (await fetch(`${url}/docs-json`)).json()) as { paths: Record<string, object> };
  return Object.values(document.paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
