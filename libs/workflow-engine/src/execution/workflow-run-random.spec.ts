import fc from 'fast-check';
import { isTerminalState, type TaskState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { RunState } from '../state/run-state.js';
import { isOver, outcomeOf } from '../testing/crashes.js';
import { DrivenRun } from '../testing/driven-run.js';
import { FakeClock } from '../testing/fake-clock.js';
import { type Fate, fateOf } from '../testing/fate.js';
import { lively, playOut, RandomAgents } from '../testing/random-run.js';
import { workflows } from '../testing/random-workflow.js';

FakeClock.advance = useFakeTime();

const RUNS = 150;
const ENDED = new Set(['completed', 'failed', 'canceled', 'skipped']);

const cases = fc.record({
  plan: workflows({ loops: true, lists: true, cancelRest: true, times: true }),
  seed: fc.nat(),
  cut: fc.nat(60),
});

interface Case {
  run: DrivenRun;
  definition: WorkflowDefinition;
  fate: Fate;
}

function driven(definition: WorkflowDefinition, fate: Fate): DrivenRun {
  return new DrivenRun(definition, new RandomAgents(definition, fate));
}

function caseOf({ plan, seed }: { plan: WorkflowDefinition; seed: number }): Case {
  const fate = fateOf(seed);
  const definition = lively(plan, fate);
  return { run: driven(definition, fate), definition, fate };
}

/** Returns the violated invariants of a run that has ended, as sentences; empty if there are none. */
function wrongWith({ definition, agents, state }: DrivenRun, end: TaskState): string[] {
  const instances = [...state.instances.values()];
  const called = agents.calls.filter(({ kind, request }) => kind === 'send' && request?.message.taskId === undefined);
  const attempts = called.map(({ attempt }) => attempt);
  const retries = new Set(definition.nodes.filter(({ retry }) => retry !== undefined).map(({ id }) => id));
  return [
    ...instances.flatMap(({ instance, status }) => (ENDED.has(status) ? [] : [`${instance} is ${status}`])),
    ...attempts.filter((it, index) => attempts.indexOf(it) !== index).map((it) => `${it} was called twice`),
    ...instances.flatMap((it) => (it.attempts > 1 && !retries.has(it.id) ? [`${it.instance} was tried again`] : [])),
    ...(isTerminalState(end) ? [] : [`the run ended ${end}`]),
    ...(end === 'TASK_STATE_FAILED' && state.error === undefined ? ['the run failed of nothing'] : []),
  ];
}

/** Returns the nodes that were started after the outcome of the run was recorded. */
function startedAtTheEnd({ runEvents }: DrivenRun): (string | undefined)[] {
  const ending = runEvents.findIndex(({ type }) => type === 'run.ending');
  const after = ending < 0 ? [] : runEvents.slice(ending);
  return after.flatMap(({ type, node_id }) => (type === 'node.started' ? [node_id] : []));
}

/**
 * Returns the beginning of a log as a crash may leave it: at most `most` + 1 events, and no event that ends the turn.
 */
function leftBehind(log: readonly TaskEvent[], most: number): TaskEvent[] {
  const left = log.slice(0, Math.min(most + 1, log.length - 1));
  const isWaiting = (event: TaskEvent) =>
    'statusUpdate' in event && event.statusUpdate.status.state !== 'TASK_STATE_WORKING';
  while (left.length > 1 && left.at(-1) !== undefined && isWaiting(left.at(-1) as TaskEvent)) left.pop();
  return left;
}

describe('any run of any workflow', () => {
  test('comes to an end in which everything is settled, and its log folds to the same however it is read', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ plan, seed, cut }) => {
        const { run, definition, fate } = caseOf({ plan, seed });
        void run.start();
        const end = await playOut(run, { fate });
        expect(wrongWith(run, end)).toEqual([]);
        const { log } = run;
        const state = RunState.fromEvents(definition, log.slice(0, cut));
        for (const event of log.slice(cut)) state.apply(event);
        expect(outcomeOf({ definition, log })).toEqual(outcomeOf({ definition, log, state }));
      }),
      { numRuns: RUNS },
    );
  });

  test('goes on after a crash: nobody is called again who has answered', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ plan, seed, cut }) => {
        const { run: first, definition, fate } = caseOf({ plan, seed });
        void first.start();
        await playOut(first, { fate, until: (events) => events > cut });
        const log = leftBehind(first.log, cut);
        first.shutDown();
        await first.latest.catch(() => undefined);
        const before = RunState.fromEvents(definition, log);
        const run = driven(definition, fate);
        void run.recover(log);
        const end = await playOut(run, { fate });
        expect(wrongWith(run, end)).toEqual([]);
        expect(run.sent.filter((attempt) => isOver(before, attempt))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('leaves nobody at work when it is canceled', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ plan, seed, cut }) => {
        const { run, fate } = caseOf({ plan, seed });
        void run.start();
        const state = await playOut(run, { fate, until: (events) => events > cut });
        if (state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_FAILED') return;
        const isUnderWay = state === 'TASK_STATE_WORKING' && run.steps.at(-1) !== 'run.parked';
        if (isUnderWay) run.cancel();
        else void run.cancelWaiting();
        expect(await playOut(run, { fate })).toBe('TASK_STATE_CANCELED');
        expect(wrongWith(run, 'TASK_STATE_CANCELED')).toEqual([]);
        expect(startedAtTheEnd(run).filter((id) => id !== 'exit')).toEqual([]);
        const { slow, silent, cancels } = run.agents as RandomAgents;
        const open = [...slow, ...silent];
        expect(open.filter(({ aborted }) => !aborted).map(({ attempt }) => attempt)).toEqual([]);
        expect(cancels.length).toBeGreaterThanOrEqual(open.length);
      }),
      { numRuns: RUNS },
    );
  });
});
