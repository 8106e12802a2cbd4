import fc from 'fast-check';
import type { TaskEvent } from '#libs/tasks';
import { RunState } from './run-state.js';
import {
  folded,
  type GoldenLog,
  goldenLog,
  hiddenOf,
  planOf,
  readGoldenLog,
  timeless,
  writeGoldenLog,
} from './testing/golden-log.js';
import { GOLDEN_RUNS } from './testing/golden-runs.js';

/** Writes the logs anew, for a change of what runs log that is meant. */
const RECORDS = process.env['RECORD_GOLDEN_LOGS'] !== undefined;

const eventsOf = ({ steps }: GoldenLog): TaskEvent[] => steps.map(({ event }) => event);

describe.each(Object.entries(GOLDEN_RUNS))('the golden run %s', (name, play) => {
  test('is logged as it was', async () => {
    const { definition, log } = await play();
    if (RECORDS) writeGoldenLog(name, goldenLog(definition, timeless(log)));
    const golden = readGoldenLog(name);
    expect(definition).toEqual(golden.definition);
    expect(timeless(log)).toEqual(eventsOf(golden));
  });

  test('every beginning of its log gives the plan, the state and the view that it gave', () => {
    const golden = readGoldenLog(name);
    expect(goldenLog(golden.definition, eventsOf(golden))).toEqual(golden);
  });

  test('a log that is read in pieces gives the same as in one', () => {
    const golden = readGoldenLog(name);
    const events = eventsOf(golden);
    const { plan, hidden } = folded(golden.definition, events);
    fc.assert(
      fc.property(fc.nat(events.length), (cut) => {
        const state = RunState.of(golden.definition, events.slice(0, cut));
        planOf(state);
        for (const event of events.slice(cut)) state.apply(event);
        expect(JSON.parse(JSON.stringify({ plan: planOf(state), hidden: hiddenOf(state) }))).toEqual({ plan, hidden });
      }),
    );
  });
});
