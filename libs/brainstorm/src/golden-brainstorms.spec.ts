import { join } from 'node:path';
import { eventsOf, type Fold, goldenLog, GoldenLogs, timeless } from '../../../test/support/golden-log.js';
import { BrainstormProgress, nextStep, type Pass } from './brainstorm-progress.js';
import { GOLDEN_BRAINSTORMS } from './testing/golden-brainstorms.js';

const LOGS = new GoldenLogs(join(import.meta.dirname, 'testing/golden'));

/**
 * Returns the progress of a brainstorm, which callers see, and the next step. The specification is omitted, because the
 * first event has it.
 */
const folded: Fold = (log) => {
  const progress = BrainstormProgress.fromEvents(log);
  const { spec: _spec, history, passes, ...rest } = progress;
  // The recorded logs have an older name of this step.
  const next = nextStep(progress).kind.replace('await-input', 'rest');
  return { passes: passes.map(recorded), ...rest, merged: history.length, state: progress.state, next };
};

/** Returns a pass in the form of the recorded logs, which are older than the member `faults`. */
function recorded({ agents, ...pass }: Pass): object {
  return { ...pass, agents: agents.map(({ faults: _faults, ...turn }) => turn) };
}

describe.each(Object.entries(GOLDEN_BRAINSTORMS))('the golden brainstorm %s', (name, play) => {
  test('is logged as it was, and made the same calls', async () => {
    const { log, agents } = await play();
    const calls = agents.calls.map(({ agent, kind, messageId = '' }) => `${kind} ${agent} ${messageId}`);
    const head = { calls: [...calls, ...agents.cancels.map((taskId) => `cancel ${taskId}`)] };
    LOGS.record(name, () => goldenLog(timeless(log), folded), head);
    const golden = LOGS.read(name);
    expect(timeless(log)).toEqual(eventsOf(golden.log));
    expect(head).toEqual(golden.head);
  });

  test('every beginning of its log gives what it gave', () => {
    const { log } = LOGS.read(name);
    expect(goldenLog(eventsOf(log), folded)).toEqual(log);
  });
});
