import type { RequestContext } from '#libs/agents';
import { userMessage } from '#libs/protocol';
import {
  eventsAfter,
  FoldMemory,
  placeOfEvent,
  type RecordedEvent,
  type TaskEvent,
  type TaskHeader,
  toStreamResponse,
} from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { RunState } from '../state/run-state.js';
import { DrivenFolds, DrivenRun, workflowOf } from '../testing/driven-run.js';
import { FakeAgents } from '../testing/fake-agents.js';

const SCOPE = { tenant: 't', owner: 'o' };

/** Starts a run in which every node asks a question. */
async function asking(nodes: number): Promise<DrivenRun> {
  const ids = Array.from({ length: nodes }, (_, index) => `n${index}`);
  const run = new DrivenRun(workflowOf(ids.join(' '), '', { language: 2 }), new FakeAgents());
  const asked = run.start();
  for (const id of ids) (await run.agents.called(id, 1)).finish('TASK_STATE_INPUT_REQUIRED', `${id}?`);
  await asked;
  return run;
}

/** Answers a node's question. Returns the number of events of the log that the following turn has read. */
async function answer(run: DrivenRun, id: string): Promise<number> {
  const answered = run.answer(userMessage('yes', { metadata: { node: id } }));
  (await run.agents.called(id, 2)).complete('done');
  await answered;
  return run.eventsRead.at(-1)!;
}

/** Returns the events of a log as they are stored, with sequence numbers. */
function stored(log: readonly TaskEvent[]): RecordedEvent[] {
  return (JSON.parse(JSON.stringify(log)) as TaskEvent[]).map((event, index) => ({
    ...{ taskId: 'run-1', sequence: index + 1, event },
    json: JSON.stringify(toStreamResponse(event)),
  }));
}

/** Creates RunFolds over a log, and records the number of events that each read returns. */
function foldsOf(log: readonly TaskEvent[]): { folds: DrivenFolds; reads: number[] } {
  const [events, reads] = [stored(log), [] as number[]];
  const tasks = {
    readEvents: async (_taskId: string, after: number, limit: number) => {
      const read = events.slice(after, after + limit);
      reads.push(read.length);
      return read;
    },
  };
  return { folds: new DrivenFolds(tasks as never, new FoldMemory()), reads };
}

const headerAt = (lastSequence: number): TaskHeader =>
  ({ ...SCOPE, taskId: 'run-1', state: 'TASK_STATE_INPUT_REQUIRED', lastSequence }) as TaskHeader;

/** Returns the members of a run's state that must be equal in two states of the same run. */
const known = ({ instances, status, sequence, frontier }: RunState) => ({
  ...{ status, sequence, waiting: frontier.waiting },
  nodes: [...instances.values()],
});

/** Returns the context of an execution with this log. */
function executionOf(log: readonly TaskEvent[]): RequestContext {
  const events = stored(log);
  return {
    ...{ taskId: 'run-1', call: { scope: SCOPE } },
    places: {
      nearlyFull: () => undefined,
      readLast: async () => ({ place: placeOfEvent(events.at(-1)!), bytes: 1 }),
      readAfter: (place) => eventsAfter(async (after) => events.slice(after), place, events.length),
    },
  } as RequestContext;
}

describe('The fold of a run that waits', () => {
  it('has an answer read what is new alone, however long the log is, and is what the whole log folds to', async () => {
    const run = await asking(30);
    const reads: number[] = [];
    for (let index = 0; index < 29; index += 1) reads.push(await answer(run, `n${index}`));
    expect(reads).toEqual(reads.map(() => 1));
    expect(run.log.length).toBeGreaterThan(150);
    const context = executionOf(run.log);
    const kept = await run.folds.takeFold(context, run.definition);
    expect(known(kept!.state)).toEqual(
      known(
        RunState.fromEvents(
          run.definition,
          stored(run.log).map(({ event }) => event),
        ),
      ),
    );
    await run.folds.keepFold(context, kept!);
    await answer(run, 'n29');
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is brought forward where another replica has taken answers meanwhile', async () => {
    const run = await asking(6);
    const here = run.folds;
    await answer(run, 'n0');
    const before = run.log.length;
    run.folds = new DrivenFolds({} as never, new FoldMemory());
    await answer(run, 'n1');
    await answer(run, 'n2');
    const there = run.log.length - before;
    run.folds = here;
    expect(await answer(run, 'n3')).toBe(there + 1);
    await answer(run, 'n4');
    await answer(run, 'n5');
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('counts for nothing where the log has another event at its place, ends before it, or is of another definition', async () => {
    const run = await asking(3);
    const { length } = run.log;
    const last = run.log.at(-1)!;
    const other = {
      ...last,
      statusUpdate: { ...('statusUpdate' in last && last.statusUpdate), metadata: {} },
    } as TaskEvent;
    const logs = [[...run.log.slice(0, -1), other], run.log.slice(0, -1), []];
    for (const log of logs) {
      const { folds } = foldsOf(run.log);
      await folds.readRunState(headerAt(length), run.definition);
      expect(folds.count).toBe(1);
      expect(await folds.takeFold(executionOf(log), run.definition)).toBeUndefined();
      expect(folds.count).toBe(0);
    }
    const { folds } = foldsOf(run.log);
    await folds.readRunState(headerAt(length), run.definition);
    const saved: WorkflowDefinition = structuredClone(run.definition);
    expect(await folds.takeFold(executionOf(run.log), saved)).toBeUndefined();
  });

  it('is kept of no event that is not durable, or that the state has not taken in', async () => {
    const run = await asking(3);
    const fold = { state: run.state, first: run.log[0] };
    const { folds } = foldsOf(run.log);
    const context = executionOf(run.log);
    await folds.keepFold(
      { ...context, places: { ...context.places!, readLast: () => Promise.reject(new Error('lost')) } },
      fold,
    );
    await folds.keepFold(executionOf(run.log.slice(0, -1)), fold);
    expect(folds.count).toBe(0);
    await folds.keepFold(context, fold);
    expect(folds.count).toBe(1);
  });

  it('is looked at without the log, and by several at once that find it behind', async () => {
    const run = await asking(8);
    const behind = run.log.length;
    for (const id of ['n0', 'n1', 'n2']) await answer(run, id);
    const { folds, reads } = foldsOf(run.log);
    const { length } = run.log;
    await folds.readRunState(headerAt(behind), run.definition);
    const states = await Promise.all([1, 2, 3].map(() => folds.readRunState(headerAt(length), run.definition)));
    const whole = known(
      RunState.fromEvents(
        run.definition,
        stored(run.log).map(({ event }) => event),
      ),
    );
    for (const state of states) expect(known(state)).toEqual(whole);
    reads.length = 0;
    expect(known(await folds.readRunState(headerAt(length), run.definition))).toEqual(whole);
    expect(reads).toEqual([1]);
  });

  it('is dropped with all others where too much is in flight', async () => {
    const run = await asking(3);
    let isFull = false;
    const tasks = { readEvents: async (_id: string, after: number) => stored(run.log).slice(after) };
    const folds = new DrivenFolds(tasks as never, new FoldMemory({ isFull: () => isFull }));
    await folds.readRunState(headerAt(run.log.length), run.definition);
    expect(folds.count).toBe(1);
    isFull = true;
    await folds.keepFold(executionOf(run.log), { state: run.state, first: run.log[0] });
    expect(folds.count).toBe(0);
  });

  it('weighs what agents and people said by its structure, the Messages that the run has received too', async () => {
    const run = await asking(3);
    const memory = new FoldMemory();
    const tasks = { readEvents: async (_id: string, after: number) => stored(run.log).slice(after) };
    const folds = new DrivenFolds(tasks as never, memory);
    const weighed = async (): Promise<number> => {
      await folds.readRunState(headerAt(run.log.length), run.definition);
      return memory.weight;
    };
    const before = await weighed();
    const lists = Array.from({ length: 1_000 }, () => []);
    const answered = run.answer(userMessage('yes', { metadata: { node: 'n0', lists } }));
    (await run.agents.called('n0', 2)).finish('TASK_STATE_INPUT_REQUIRED', 'again?');
    await answered;
    // Each list has four bytes of JSON, and at least forty bytes on the heap.
    expect((await weighed()) - before).toBeGreaterThan(40_000);
  });
});
