import { dataPart } from '#libs/protocol';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answering, hang } from '../testing/answering-agents.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

describe('a node whose agent asks to be called again', () => {
  test.each([7_200_000, 31_536_000_000])('in %i ms fails at once, and names the time', async (pause) => {
    const definition = extended(workflowOf('a out', 'a>out'), { a: { retry: { attempts: 3 } } });
    const run = new DrivenRun(definition, answering({ a: (call) => call.failAs('server-error', pause) }));
    expect(await run.start([dataPart({})])).toBe('TASK_STATE_FAILED');
    expect(run.sent).toEqual(['a#1']);
    expect(run.state.error).toMatchObject({
      kind: 'rate-limited',
      message: expect.stringContaining(`in ${pause / 1_000} s`),
    });
  });
});

test('The time of a node does not count while its answer waits for room', async () => {
  const definition = extended(workflowOf('ext', ''), { ext: { type: 'external', timeout: '2m' } });
  const run = new DrivenRun(definition, answering({ ext: hang }));
  const whole = run.start([dataPart({})]);
  const call = await run.agents.called('ext');
  expect(await run.clock.awaited()).toBe(120_000);
  call.options.onPause?.(true);
  await run.clock.pass();
  call.options.onPause?.(false);
  call.complete('yes');
  expect(await whole).toBe('TASK_STATE_COMPLETED');
});

test('The time of a node counts from its Message where no earlier process has sent that to an agent of ours', async () => {
  const definition = extended(workflowOf('ext', ''), { ext: { type: 'script', timeout: '2m' } });
  const before = new DrivenRun(definition, answering({ ext: hang }));
  const cut = before.start();
  await before.until('a2a.sending ext');
  before.shutDown();
  await expect(cut).rejects.toThrow('This process stops');
  FakeClock.advance(180_000);
  const run = new DrivenRun(definition, answering({ ext: hang }));
  void run.recover(before.log.slice(0, before.steps.indexOf('a2a.sending ext') + 1));
  const call = await run.agents.called('ext');
  expect(await run.clock.awaited()).toBe(120_000);
  call.complete('yes');
  expect(await run.latest).toBe('TASK_STATE_COMPLETED');
});
