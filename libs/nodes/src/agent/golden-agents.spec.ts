import { join } from 'node:path';
import type { ModelCall, ModelEvent } from '#libs/models';
import { eventsOf, goldenLog, GoldenLogs, timeless } from '../../../../test/support/golden-log.js';
import { asks, says } from '../testing/fake-models.js';
import { notedAgent } from '../testing/noted-agent.js';
import type { TaskDriver } from '../testing/task-driver.js';

const LOGS = new GoldenLogs(join(import.meta.dirname, 'golden'));

/** Returns a fake model that requests the given calls, step by step, and then answers with all results. */
const inSteps =
  (...wanted: [string, Record<string, string>][][]) =>
  (call: ModelCall): ModelEvent[] => {
    const results = call.messages.flatMap((it) => (it.role === 'tool' ? it.results : []));
    for (let [step, before] = [0, 0]; step < wanted.length; before += wanted[step]!.length, step += 1)
      if (before === results.length) return asks(call, ...wanted[step]!);
    return says(results.map(({ result, error }) => JSON.stringify(result ?? error)).join(';'));
  };

const TWO_STEPS = inSteps(
  [['look', { at: '0' }]],
  [
    ['look', { at: '1' }],
    ['write', { what: 'x' }],
  ],
);

async function played(...agent: Parameters<typeof notedAgent>): Promise<{ driver: TaskDriver; made: string[] }> {
  const { driver, tools } = notedAgent(...agent);
  await driver.run();
  return { driver, made: tools.made };
}

/** Functions that run Tasks of agents to their end, by name. The tools of these agents are not agents. */
const GOLDEN_AGENTS = {
  'answers at once': () => played(() => says('hello')),
  'calls tools in steps': () => played(TWO_STEPS),
  'asks before a careful tool': async () => {
    const config = { tools: ['careful/write'] };
    const { driver, made } = await played(inSteps([['careful/write', { what: 'x' }]]), config);
    driver.answer('yes');
    await driver.run();
    return { driver, made };
  },
  'has a tool that fails': async () => {
    const { driver, tools } = notedAgent(TWO_STEPS);
    tools.outcome = (tool) => (tool === 'write' ? { error: 'the disk is full' } : { result: 'seen' });
    await driver.run();
    return { driver, made: tools.made };
  },
  'asks whether a call that a crash cut off is repeated': async () => {
    const { driver, tools } = notedAgent(inSteps([['write', { what: 'x' }]]));
    await driver.run(4);
    await driver.run();
    driver.answer('yes');
    await driver.run();
    return { driver, made: tools.made };
  },
};

test.each(Object.entries(GOLDEN_AGENTS))(
  'the log of an agent that %s is byte for byte as it was',
  async (name, play) => {
    const { driver, made } = await play();
    const log = timeless(driver.log);
    const file = name.replaceAll(' ', '-');
    LOGS.record(file, () => goldenLog(log, () => ({})), { made });
    const golden = LOGS.read(file);
    expect(made).toEqual(golden.head?.['made']);
    expect(log.map((event) => JSON.stringify(event))).toEqual(
      eventsOf(golden.log).map((event) => JSON.stringify(event)),
    );
  },
);
