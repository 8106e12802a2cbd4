import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { RunState } from '../state/run-state.js';
import { DrivenRun } from './driven-run.js';
import type { FakeAgents } from './fake-agents.js';

/** Returns the outcome of a run as callers see it, for comparisons. */
export function outcomeOf(run: {
  definition: WorkflowDefinition;
  log: readonly TaskEvent[];
  /** State after the events of the log, if the caller has computed it already. */
  state?: RunState;
}): unknown {
  const { definition, log, state = RunState.fromEvents(definition, log) } = run;
  const instances = [...state.instances.values()].map(({ instance, status, attempts, artifacts, taken, because }) => [
    instance,
    { status, attempts, taken, because, parts: artifacts.map(({ parts }) => parts) },
  ]);
  const results = state.results.map(({ artifactId, parts }) => ({ artifactId, parts }));
  return { status: state.status, error: state.error, results, instances: Object.fromEntries(instances) as unknown };
}

const ENDED = ['completed', 'failed', 'canceled', 'skipped'];

/** True if an attempt, named by a reference such as `b@2#1`, has ended. */
export function isOver(state: RunState, reference: string): boolean {
  const [instance = '', attempt] = reference.split('#');
  const node = state.instances.get(instance);
  if (node === undefined) return false;
  if (Number(attempt) !== node.attempts) return Number(attempt) < node.attempts;
  return ENDED.includes(node.status) || node.waitsFor?.state === 'retry';
}

/**
 * Plays a run to its end, then recovers it from every beginning of its log, as a process does after a crash. Each
 * recovery must have the same outcome, and must not repeat a call that was answered.
 * @param play drives a run in progress to its end
 */
export async function everyCrash(
  definition: WorkflowDefinition,
  agents: () => FakeAgents,
  play: (run: DrivenRun) => Promise<void> = async () => undefined,
): Promise<DrivenRun> {
  const whole = new DrivenRun(definition, agents());
  const ended = whole.start();
  await Promise.all([ended, play(whole)]);
  const expected = outcomeOf(whole);
  for (let length = 1; length < whole.log.length; length += 1) {
    const run = new DrivenRun(definition, agents());
    const before = RunState.fromEvents(definition, whole.log.slice(0, length));
    await Promise.all([run.recover(whole.log.slice(0, length)), play(run)]);
    expect({ length, outcome: outcomeOf(run) }).toEqual({ length, outcome: expected });
    expect({ length, again: run.sent.filter((reference) => isOver(before, reference)) }).toEqual({ length, again: [] });
  }
  return whole;
}
