/**
 * `npm run demo`: installs and builds what is missing, starts Parley on its embedded database with two stand-alone
 * agents beside it, runs a workflow over them, kills Parley in the middle of the run and starts it again, and stays up
 * until Ctrl-C (`-- --once`: exits 0 after the result). With `-- --model`, a small language model on this machine writes
 * the text, which needs Python 3.10 and pip.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { demoOptions } from './demo/arguments.mjs';
import { bold, cyan, dim, green, red } from './demo/paint.mjs';
import { farewell } from './demo/farewell.mjs';
import { LiveView } from './demo/live-view.mjs';
import { continueRun, getRun, runWorkflow, saveWorkflow } from './demo/parley-api.mjs';
import { ServiceProcess } from './demo/service-process.mjs';
import { onEnding } from './ending.mjs';
import { ModelServer } from './model/small-model.mjs';
import { ROOT, ensureBuilt, ensureInstalled } from './prepare.mjs';
import { UsageError } from './usage-error.mjs';

const DATA = resolve(process.env.DATA_DIR || join(ROOT, '.data', 'demo'));
const EXAMPLE = join(ROOT, 'examples', 'briefing');
const INPUTS = { topic: 'Why agents need a common protocol' };
/** Stand-alone agent that does the work of each external node, by the node's id. */
const AGENTS = { research: 'researcher', critique: 'critic' };
const PORTS = { researcher: 4001, critic: 4002 };
/**
 * Point at which Parley is killed: while this node waits for its agent, or at the latest when the agent has answered.
 */
const KILLED_AT = { node: 'critique', types: ['node.progress', 'a2a.received'] };
/** Exit code that shells expect of a process ended by Ctrl-C. */
const INTERRUPTED = 130;
const FINAL_OUTPUT_MS = 500;

/** Config of the node `draft` for a small model, which follows no long instructions and runs on. */
const SMALL_DRAFT = {
  system_prompt: 'You summarize notes in a few sentences.',
  prompt: '{{topic}}:\n{{research}}',
  temperature: 0,
  stop: ['\n\n'],
};

const processes = [];
let once = false;
let withModel = false;
const interrupted = new Promise((resolve) => onEnding(resolve));

process.exit(await main());

async function main() {
  try {
    ({ once, withModel } = demoOptions(process.argv.slice(2)));
    ensureInstalled();
    ensureBuilt();
    const outcome = await Promise.race([demo(), interrupted]);
    if (outcome === 'shown' && !once) await stayUp();
    return outcome === 'shown' ? 0 : INTERRUPTED;
  } catch (error) {
    if (error instanceof UsageError) return usageFailure(error);
    console.error(`\n${red('The demo failed.')} ${error.message}`);
    return 1;
  } finally {
    await stopAll();
  }
}

function usageFailure({ message }) {
  console.error(message);
  return 2;
}

async function demo() {
  console.log(bold('Starting Parley, its database and two agents …'));
  const { parley, parleyUrl, agentUrls, restart } = await startEverything();
  const workflow = workflowOver(agentUrls);
  await saveWorkflow(parleyUrl, workflow);
  const callsBefore = countCalls();
  console.log(`${bold('\nRunning the workflow')} ${cyan(workflow.name)} ${dim(`with topic "${INPUTS.topic}"`)}\n`);
  const runId = await watchRun({ parley, parleyUrl, workflow, restart });
  const run = await getRun(parleyUrl, runId);
  if (run.status === 'completed') console.log(`\n${bold('Result')}\n${indented(resultText(run))}`);
  else if (once) throw new Error(endOf(run));
  // With a model of the user (LLM_*), a run may fail. Parley stays up, so that the user can see why.
  else console.error(`\n${red(endOf(run))}`);
  console.log(`\n${survivalText(callsBefore)}`);
  const when = once ? 'npm run demo stays up for them' : 'in another terminal';
  const facts = {
    parleyUrl,
    agentUrl: agentUrls.critic,
    workflow: workflow.name,
    runId,
    logs: join(DATA, 'logs'),
    when,
  };
  console.log(farewell(facts));
  return 'shown';
}

function endOf({ status, error }) {
  return `The run ended ${status}: ${error?.message ?? 'no reason given'}`;
}

async function startEverything() {
  rmSync(join(DATA, 'logs'), { recursive: true, force: true });
  const model = withModel ? await startModel() : undefined;
  const start = (port) => startParley(port, model?.environment);
  const parley = start(await portToUse());
  const agents = [];
  for (const name of Object.values(AGENTS)) agents.push([name, await startAgent(name)]);
  const parleyUrl = await parley.ready();
  console.log(`  ${green('✓')} Parley       ${parleyUrl}`);
  const agentUrls = {};
  for (const [name, agent] of agents) {
    agentUrls[name] = await agent.ready();
    console.log(`  ${green('✓')} ${name.padEnd(12)} ${agentUrls[name]}`);
  }
  if (model) console.log(`  ${green('✓')} ${'model'.padEnd(12)} ${model.url}`);
  return { parley, parleyUrl, agentUrls, restart: () => start(Number(new URL(parleyUrl).port)) };
}

async function startModel() {
  const model = await ModelServer.start(join(DATA, 'logs', 'model.log'));
  processes.push(model);
  return model;
}

function startParley(port, modelEnvironment = {}) {
  return start('Parley', 'src/main', {
    env: {
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: join(DATA, 'parley'),
      LOG_LEVEL: 'warn',
      SHUTDOWN_GRACE: '2',
      ...modelEnvironment,
    },
  });
}

async function startAgent(name) {
  const port = (await isFree(PORTS[name])) ? PORTS[name] : 0;
  return start(name, 'apps/agent/src/main', {
    args: [
      ...['--script', join(EXAMPLE, `${name}.json`), '--name', name, '--port', String(port)],
      ...['--data-dir', join(DATA, 'agents', name), '--call-log', callLogOf(name)],
    ],
    // The port is Parley's.
    env: { HOST: '127.0.0.1', LOG_LEVEL: 'warn', SHUTDOWN_GRACE: '2', GRPC_PORT: '' },
  });
}

/** Starts a process of the demo. The demo has a separate database, whatever the environment says. */
function start(name, entry, { args, env }) {
  const logFile = join(DATA, 'logs', `${name.toLowerCase()}.log`);
  const service = new ServiceProcess(name, entry, { args, env: { ...env, DATABASE_URL: '' }, logFile });
  processes.push(service);
  return service;
}

/** Returns PORT, or 3000; if that port is in use, any free port. */
async function portToUse() {
  const wanted = Number(process.env.PORT || 3000);
  if (await isFree(wanted)) return wanted;
  console.log(dim(`  Port ${wanted} is taken, so Parley gets another one (set PORT to choose).`));
  return 0;
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

function workflowOver(agentUrls) {
  const workflow = JSON.parse(readFileSync(join(EXAMPLE, 'workflow.json'), 'utf8'));
  for (const node of workflow.nodes) {
    const url = agentUrls[AGENTS[node.id]];
    if (url) node.config.endpoint_url = `${url}/a2a`;
    if (withModel && node.id === 'draft') Object.assign(node.config, SMALL_DRAFT);
  }
  return workflow;
}

/** Shows a run from its first event to its last. In between, Parley is killed and started again. */
async function watchRun({ parley, parleyUrl, workflow, restart }) {
  const view = new LiveView(workflow);
  void interrupted.then(() => view.end());
  let last;
  try {
    for await (const event of eventsOrFinalOutput(runWorkflow(parleyUrl, workflow.name, INPUTS))) {
      last = event;
      view.show(event);
      if (event.node_id === KILLED_AT.node && KILLED_AT.types.includes(event.type)) break;
    }
    await killAndRestart(parley, restart, view);
    for await (const event of eventsOrFinalOutput(continueRun(parleyUrl, last))) view.show(event);
  } finally {
    view.end();
  }
  return last.runId;
}

async function killAndRestart(parley, restart, view) {
  await parley.kill();
  view.say(`${red(bold(`kill -9 ${parley.child.pid}`))}  Parley is gone, in the middle of the run`);
  const killedAt = Date.now();
  await restart().ready();
  const seconds = ((Date.now() - killedAt) / 1000).toFixed(1);
  view.say(`${green(bold(`Parley is back after ${seconds} s`))}  the same command again; the run continues by itself`);
}

/**
 * Yields the events of a run. If they end because the process died, throws an error with the last output of the
 * process, which says more.
 */
async function* eventsOrFinalOutput(events) {
  const death = Promise.race(processes.map((service) => service.unexpectedEnd()));
  death.catch(() => {});
  try {
    yield* events;
  } catch (error) {
    await Promise.race([death, new Promise((resolve) => setTimeout(resolve, FINAL_OUTPUT_MS))]);
    throw error;
  }
}

function callLogOf(name) {
  return join(DATA, 'agents', `${name}-calls.jsonl`);
}

/** Counts the Messages that each agent has executed, from the agents' call logs. */
function countCalls() {
  const counts = {};
  for (const name of Object.values(AGENTS)) {
    const file = callLogOf(name);
    counts[name] = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean).length : 0;
  }
  return counts;
}

function survivalText(callsBefore) {
  const counts = Object.entries(countCalls()).map(([name, count]) => [name, count - callsBefore[name]]);
  const outcome = counts.every(([, count]) => count === 1)
    ? 'Killed once; no step was lost, and none ran twice.'
    : 'Killed once; no step was lost.';
  const calls = counts.map(([name, count]) => `${name} ${count}`).join(', ');
  return `${bold(outcome)} ${dim(`Messages that the agents worked on, by their own logs: ${calls}`)}`;
}

function resultText(run) {
  const parts = (run.result ?? []).flatMap((artifact) => artifact.parts);
  return parts.map((part) => part.text ?? JSON.stringify(part.data)).join('\n');
}

function indented(text) {
  return text
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');
}

async function stayUp() {
  console.log(dim('\nEverything stays up until Ctrl-C.'));
  const death = Promise.race(processes.map((service) => service.unexpectedEnd()));
  await Promise.race([interrupted, death]);
}

async function stopAll() {
  if (processes.length > 0) console.log(dim('\nStopping …'));
  await Promise.all(processes.map((service) => service.stop()));
}
