import { jest } from '@jest/globals';
import { artifactUpdate, type JsonObject, statusUpdate, submittedTask, textPart, userMessage } from '#libs/protocol';
import { NodeProgress } from './node-progress.js';

const REFERENCE = { taskId: 't', contextId: 'c' };
const working = (text?: string) => statusUpdate(REFERENCE, 'TASK_STATE_WORKING', text);
const chunk = (text: string, append = true, artifactId = 'a') =>
  artifactUpdate(REFERENCE, { artifactId, parts: [textPart(text)] }, { append });

describe('what an agent says while it works', () => {
  let reported: JsonObject[];
  let progress: NodeProgress;

  beforeEach(() => {
    jest.useFakeTimers();
    reported = [];
    progress = new NodeProgress(({ payload }) => reported.push(payload));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('is reported once in a quarter of a second, the newest of it', () => {
    for (const text of ['one', 'two', 'three']) progress.takeResponse(working(text));
    jest.advanceTimersByTime(249);
    expect(reported).toEqual([]);
    jest.advanceTimersByTime(1);
    progress.takeResponse(working('four'));
    jest.advanceTimersByTime(250);
    jest.advanceTimersByTime(10_000);
    expect(reported).toEqual([{ text: 'three' }, { text: 'four' }]);
  });

  test('is reported also where each step tells of the whole Task', () => {
    const task = { ...submittedTask(REFERENCE, userMessage('tea')), status: working('one').statusUpdate.status };
    progress.takeResponse({ task });
    jest.advanceTimersByTime(250);
    expect(reported).toEqual([{ text: 'one' }]);
  });

  test('is not reported where it is done before', () => {
    progress.takeResponse(working('one'));
    progress.takeResponse(chunk('x'));
    progress[Symbol.dispose]();
    jest.advanceTimersByTime(10_000);
    expect(reported).toEqual([]);
  });

  test('is not reported where it says nothing', () => {
    progress.takeResponse(working());
    progress.takeResponse(working(''));
    progress.takeResponse(statusUpdate(REFERENCE, 'TASK_STATE_COMPLETED', 'done'));
    jest.advanceTimersByTime(10_000);
    expect(reported).toEqual([]);
  });

  test('of Artifacts are the pieces that came together', () => {
    progress.takeResponse(chunk('a', false));
    progress.takeResponse(chunk('b'));
    progress.takeResponse(chunk('other', false, 'b'));
    progress.takeResponse(chunk('c'));
    jest.advanceTimersByTime(250);
    progress.takeResponse(chunk('d'));
    jest.advanceTimersByTime(250);
    expect(reported).toEqual([
      { artifact: { artifactId: 'a', parts: [textPart('abc')] } },
      { artifact: { artifactId: 'b', parts: [textPart('other')] } },
      { artifact: { artifactId: 'a', parts: [textPart('d')], append: true } },
    ]);
  });

  test('keeps a character whole whose halves come apart', () => {
    progress.takeResponse(chunk('a\ud83d', false));
    jest.advanceTimersByTime(700);
    progress.takeResponse(chunk('\ude00b'));
    jest.advanceTimersByTime(250);
    expect(reported).toEqual([
      { artifact: { artifactId: 'a', parts: [textPart('a')] } },
      { artifact: { artifactId: 'a', parts: [textPart('😀b')], append: true } },
    ]);
  });

  test('of large Artifacts is but where they are', () => {
    progress.takeResponse(chunk('x'.repeat(60_000), false));
    jest.advanceTimersByTime(250);
    progress.takeResponse(chunk('y'.repeat(60_000)));
    jest.advanceTimersByTime(250);
    progress.takeResponse(chunk('z'));
    jest.advanceTimersByTime(250);
    expect(reported).toHaveLength(2);
    expect(reported[1]).toEqual({ artifact: { artifactId: 'a', taskId: 't', append: true } });
  });
});
