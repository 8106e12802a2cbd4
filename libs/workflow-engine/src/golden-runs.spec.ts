import fc from 'fast-check';
import { join } from 'node:path';
import { runEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { eventsOf, goldenLog, GoldenLogs, plain, timeless } from '../../../test/support/golden-log.js';
import { RunState } from './state/run-state.js';
import { folded, hiddenOf, planOf } from './testing/golden-log.js';
import { GOLDEN_RUNS } from './testing/golden-runs.js';

const LOGS = new GoldenLogs(join(import.meta.dirname, 'testing/golden'));

function read(name: string) {
  const { head, log } = LOGS.read(name);
  return { definition: head as unknown as WorkflowDefinition, log };
}

/** Returns the event without the member `failure`, as in older logs, in which failures had no kinds. */
function withoutFailure(event: TaskEvent): TaskEvent {
  const copy = structuredClone(event);
  const note = 'statusUpdate' in copy ? runEventNote(copy.statusUpdate.metadata) : undefined;
  if (note) delete note.payload['failure'];
  return copy;
}

describe.each(Object.entries(GOLDEN_RUNS))('the golden run %s', (name, play) => {
  test('is logged as it was', async () => {
    const { definition, log } = await play();
    LOGS.record(name, () => goldenLog(timeless(log), (events) => folded(definition, events)), definition);
    const golden = read(name);
    expect(definition).toEqual(golden.definition);
    expect(timeless(log).map(withoutFailure)).toEqual(eventsOf(golden.log));
  });

  test('every beginning of its log gives the plan, the state and the view that it gave', () => {
    const { definition, log } = read(name);
    expect(goldenLog(eventsOf(log), (events) => folded(definition, events))).toEqual(log);
  });

  test('a log that is read in pieces gives the same as in one', () => {
    const { definition, log } = read(name);
    const events = eventsOf(log);
    const { plan, hidden } = plain(folded(definition, events));
    fc.assert(
      fc.property(fc.nat(events.length), (cut) => {
        const state = RunState.fromEvents(definition, events.slice(0, cut));
        planOf(state);
        for (const event of events.slice(cut)) state.apply(event);
        expect(plain({ plan: planOf(state), hidden: hiddenOf(state) })).toEqual({ plan, hidden });
      }),
    );
  });
});
