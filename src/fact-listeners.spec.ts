import type { Type } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { FactName, FactPayloads } from '#libs/agent-sdk';
import { AppConfig, Facts, Metrics } from '#libs/service';
import { TaskCounts } from '#libs/tasks';

const AT = new Date(1_000);
const TASK = { taskId: 't', contextId: 'c', agent: 'workflows/tea', tenant: '', owner: 'ann' };

/**
 * Facts (notifications inside the service, such as `run.failed`), one of each name, with the metric and the log line
 * that the fact causes. A missing name is a type error.
 */
const FACTS: { [Name in FactName]: { fact: FactPayloads[Name]; count: string; line: string } } = {
  'task.settled': {
    fact: { ...TASK, state: 'TASK_STATE_COMPLETED', createdAt: AT, settledAt: AT },
    count: 'parley_runs_total{workflow="tea",outcome="completed"} 1',
    line: 'A task has ended',
  },
  'run.failed': {
    fact: { runId: 'r', workflow: 'tea', tenant: '', kind: 'timeout', cause: 'no leaves' },
    count: 'parley_run_failures_total{kind="timeout"} 1',
    line: 'A run failed',
  },
  'question.asked': {
    fact: { ...TASK, state: 'TASK_STATE_INPUT_REQUIRED' },
    count: 'parley_questions_total{state="TASK_STATE_INPUT_REQUIRED"} 1',
    line: 'A task asks a question',
  },
  'card.changed': {
    fact: { url: 'https://a.example', tenant: '', paths: ['/url'], policy: 'block', significant: true, blocked: true },
    count: 'parley_cards_changed_total{policy="block",blocked="true"} 1',
    line: 'The card of an agent has changed',
  },
  'key.revoked': { fact: { name: 'ann', tenant: '' }, count: 'parley_keys_revoked_total 1', line: 'A key was revoked' },
  'replica.left': {
    fact: { replicaId: 'one', takenOver: 2 },
    count: 'parley_replicas_left_total 1',
    line: 'A replica has left',
  },
};
const NAMES = Object.keys(FACTS) as FactName[];

const sources = globSync('{src,libs/*/src}/**/*.ts', { exclude: ['**/*.spec.ts'] }).map((path) => ({
  path,
  text: readFileSync(path, 'utf8'),
}));
/**
 * Source texts that define a module of the service. `providers` below are the classes in these modules that listen to
 * facts.
 */
const modules = sources.map(({ text }) => text).filter((text) => text.includes('@Module('));
const providers = sources
  .flatMap(({ path, text }) => text.split(/^(?=export class )/m).map((part) => ({ path, text: part })))
  .map((part) => ({ ...part, name: /^export class (\w+) /.exec(part.text)?.[1] ?? '' }))
  .filter(({ text, name }) => text.includes('@OnFact(') && isProvided(name));

function isProvided(name: string): boolean {
  return modules.some((text) => new RegExp(`^ +${name},$`, 'm').exec(body(text)));
}

/** Returns the text of a module from its decorator on, without the imports of the file. */
function body(text: string): string {
  return text.slice(text.indexOf('@Module('));
}

it.each(NAMES)('%s has two listeners of the service or more, before any plugin', (name) => {
  const listeners = providers.flatMap(({ text }) => text.split(`  @OnFact('${name}')\n`).slice(1));
  expect(listeners.length).toBeGreaterThanOrEqual(2);
});

/** Starts a module with the service's listeners of facts. @returns its Facts and Metrics, and the logged lines */
async function listening() {
  const listeners = await Promise.all(
    providers.map(async ({ path, name }) => {
      const { [name]: listener } = (await import(resolve(path))) as Record<string, Type>;
      return listener!;
    }),
  );
  const module = await Test.createTestingModule({
    imports: [EventEmitterModule.forRoot()],
    providers: [
      Facts,
      Metrics,
      { provide: AppConfig, useValue: { metricsWorkflows: true } },
      { provide: TaskCounts, useValue: { countWaiting: async () => ({}) } },
      ...listeners,
    ],
  }).compile();
  const logged: unknown[] = [];
  const log = (...said: unknown[]): void => void logged.push(...said);
  module.useLogger({ log, debug: log, warn: log, error: log });
  await module.init();
  return { module, facts: module.get(Facts), metrics: module.get(Metrics), logged };
}

it.each(NAMES)('%s becomes a count and a line of the log', async (name) => {
  const { module, facts, metrics, logged } = await listening();
  const { fact, count, line } = FACTS[name];
  facts.emit(name, fact);
  await setImmediate();
  expect((await metrics.readExposition()).split('\n')).toContain(count);
  expect(logged).toContain(line);
  await module.close();
});
