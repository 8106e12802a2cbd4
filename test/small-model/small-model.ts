import 'reflect-metadata';
import assert from 'node:assert/strict';
import { AgentProcess } from '../e2e/agent-app/agent-process.js';
import { BrainstormApi } from '../support/brainstorm.js';
import { Talks } from '../support/conversation.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startParley } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { Api, echo, linear } from '../support/workflow.js';
import { ModelServer } from './model-server.js';

/** How long a brainstorm or a conversation may take with this model on two busy cores, in milliseconds. */
const WITHIN_MS = 15 * 60_000;

const ends: (() => unknown)[] = [];
let [passed, failed] = [0, 0];
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function check(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    passed += 1;
    say(`✓ ${what}`);
  } catch (error) {
    failed += 1;
    say(`✗ ${what}\n${(error as Error).stack}`);
  }
}

try {
  const model = await ModelServer.start();
  ends.push(() => model.stop());
  const llm = { LLM_BASE_URL: model.url, LLM_MODEL: 'smollm2' };
  const postgres = await OwnPostgres.start();
  ends.push(() => postgres.stop());
  process.env['PARLEY_TEST_POSTGRES'] = postgres.url;
  const [database, elsewhere] = [await freshDatabase(), await freshDatabase()];
  ends.push(
    () => database.drop(),
    () => elsewhere.drop(),
  );
  const parley = await startParley({ databaseUrl: database.url, env: llm });
  ends.push(() => parley.stop());
  const agent = AgentProcess.spawn(['--role', 'review'], elsewhere.url, llm);
  ends.push(() => agent.signal('SIGKILL'));
  const reviewer = `${await agent.ready()}/a2a`;
  const api = new Api(parley.url);
  for (const [name, prompt] of [
    ['gardener', 'You are a gardener who likes vegetables. Answer in one sentence.'],
    ['cook', 'You are a cook who likes soup. Answer in one sentence.'],
  ] as const)
    await api.save(linear(name, echo(name, { system_prompt: prompt, temperature: 0.2 })));
  await check('three agents hold a brainstorm whose states are all valid', () => brainstorm(api, reviewer));
  await check('two agents talk, each knowing what it has said', () => conversation(api));
} catch (error) {
  failed += 1;
  say((error as Error).stack ?? String(error));
} finally {
  for (const end of ends.reverse()) await end();
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function brainstorm(api: Api, reviewer: string): Promise<void> {
  const brainstorms = new BrainstormApi(api);
  const agents = [
    { agent: 'workflows/gardener/nodes/gardener', role: 'build' },
    { agent: reviewer, role: 'review' },
    { agent: 'workflows/cook/nodes/cook', role: 'refine' },
  ];
  const id = await brainstorms.start(agents, { idea: 'A shared calendar for a garden', maxIterations: 1 });
  const ended = await brainstorms.rested(id, WITHIN_MS);
  const log = await brainstorms.log(id);
  for (const { data } of log) say(`  ${data.type} ${JSON.stringify(data.payload).slice(0, 160)}`);
  say(`  ${ended.status}: ${ended.convergence ?? ended.error?.message ?? ''}\n  ${JSON.stringify(ended.state)}`);
  assert.equal(ended.error, undefined);
  assert.ok(['converged', 'stopped', 'completed'].includes(ended.status), ended.status);
  for (const pass of ended.passes)
    assert.deepEqual(
      pass.agents.filter(({ error }) => error),
      [],
    );
  assert.equal(ended.state.idea, 'A shared calendar for a garden');
}

async function conversation(api: Api): Promise<void> {
  const talks = new Talks(api);
  const body = { requester: 'gardener', target: 'cook', message: 'What shall we make of ten pumpkins?', maxTurns: 3 };
  const ended = await talks.ended(await talks.start(body), WITHIN_MS);
  for (const { turn, fromAgent, text } of ended.turns) say(`  ${turn} ${fromAgent}: ${text}`);
  assert.equal(ended.error, undefined);
  assert.match(ended.outcome ?? '', /max_turns|skip/);
  assert.ok(ended.turns.every(({ text }) => text.trim() !== ''));
  assert.equal(new Set(ended.turns.map(({ fromAgent }) => fromAgent)).size, 2);
}
