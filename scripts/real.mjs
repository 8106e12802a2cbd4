/**
 * `npm run real`: installs and builds what is missing, and installs a small language model with a server for it. Then
 * starts Parley on its embedded database, and checks what agents do with the model: no key, no network, no stub.
 * `-- NAME …` runs only these checks; `-- --list` prints their names. Needs Python 3.10 and pip.
 * Prints what was seen and "N passed, N failed", and exits with 0 only if none failed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bold, dim, green, red } from './demo/paint.mjs';
import { ServiceProcess } from './demo/service-process.mjs';
import { onEnding } from './ending.mjs';
import { ModelServer, ModelUnavailable } from './model/small-model.mjs';
import { ROOT, ensureBuilt, ensureInstalled } from './prepare.mjs';
import { CHECKS } from './real/checks.mjs';
import { chosenChecks } from './real/chosen-checks.mjs';
import { CheckEnd } from './real/check-end.mjs';
import { UsageError } from './usage-error.mjs';

const INTERRUPTED = 130;
const LOGS = join(ROOT, '.data', 'real', 'logs');
const COMMON = { HOST: '127.0.0.1', LOG_LEVEL: 'warn', SHUTDOWN_GRACE: '2', DATABASE_URL: '', GRPC_PORT: '' };

const ends = [];
const interrupted = new Promise((resolve) => onEnding(() => resolve(INTERRUPTED)));
const code = await Promise.race([main(), interrupted]);
for (const end of ends.reverse()) await end();
process.exit(code);

async function main() {
  try {
    const chosen = chosenChecks(process.argv.slice(2), Object.keys(CHECKS));
    if (chosen === 'list') {
      for (const [name, { what }] of Object.entries(CHECKS)) console.log(`${name.padEnd(14)}${what}`);
      return 0;
    }
    ensureInstalled();
    ensureBuilt();
    return await runChecks(chosen, await startServices());
  } catch (error) {
    console.error(error instanceof UsageError || error instanceof ModelUnavailable ? error.message : error);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function startServices() {
  const began = performance.now();
  rmSync(LOGS, { recursive: true, force: true });
  const model = await ModelServer.start(join(LOGS, 'model.log'));
  ends.push(() => model.stop());
  const data = mkdtempSync(join(tmpdir(), 'parley-real-'));
  ends.push(() => rmSync(data, { recursive: true, force: true }));
  let parley = startParley({ PORT: '0', DATA_DIR: join(data, 'parley'), ...model.environment });
  ends.push(() => parley.stop());
  const agent = startAgent(join(data, 'agent'), model.environment);
  ends.push(() => agent.stop());
  const url = await parley.ready();
  const killAndRestart = async () => {
    await parley.kill();
    const killedAt = performance.now();
    const { port } = new URL(url);
    parley = startParley({ PORT: port, DATA_DIR: join(data, 'parley'), ...model.environment });
    await parley.ready();
    return performance.now() - killedAt;
  };
  const reviewer = `${await agent.ready()}/a2a`;
  console.log(`${green('✓')} model ${model.url}, Parley ${url}, reviewer ${reviewer} ${dim(since(began))}`);
  return { url, model, reviewer, killAndRestart };
}

function startParley(env) {
  return new ServiceProcess('Parley', 'src/main', { env: { ...COMMON, ...env }, logFile: join(LOGS, 'parley.log') });
}

/** Starts an agent in a process of its own, which reviews what other agents of a brainstorm have built. */
function startAgent(data, env) {
  const args = ['--role', 'review', '--port', '0', '--data-dir', data];
  const logFile = join(LOGS, 'reviewer.log');
  return new ServiceProcess('The reviewer', 'apps/agent/src/main', { args, env: { ...COMMON, ...env }, logFile });
}

async function runChecks(names, services) {
  let [passed, failed] = [0, 0];
  for (const name of names) {
    const { what, check } = CHECKS[name];
    const began = performance.now();
    const say = (line) => console.log(`  ${line}`);
    const end = new CheckEnd(services.model, say);
    console.log(`\n${bold(what)}`);
    try {
      await check({ ...services, say, afterwards: end.afterwards });
      passed += 1;
      console.log(`${green('✓')} ${name} ${dim(since(began))}`);
    } catch (error) {
      failed += 1;
      console.log(`${red('✗')} ${name} ${dim(since(began))}\n  ${error.message}`);
    }
    await end.cleanUp();
  }
  if (failed > 0) console.log(`\nThe output of the services: ${LOGS}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

function since(began) {
  return `(${((performance.now() - began) / 1000).toFixed(1)} s)`;
}
