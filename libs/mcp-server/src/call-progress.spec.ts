import { jest } from '@jest/globals';
import { runEventMetadata, statusUpdate, type TaskState } from '#libs/protocol';
import { type ProgressNotification, ProgressNotifier, progressText } from './workflow-call.js';

const reference = { taskId: 't', contextId: 'c' };
const said = (state: TaskState, text: string) => statusUpdate(reference, state, text);
const step = (type: string, payload = {}, node?: string) =>
  statusUpdate(
    reference,
    'TASK_STATE_WORKING',
    undefined,
    runEventMetadata({ type, payload, ...(node && { node_id: node }) }),
  );

afterEach(() => void jest.useRealTimers());

describe('progress', () => {
  it.each([
    [step('node.started', {}, 'a'), 'a started'],
    [step('node.completed', {}, 'a'), 'a completed'],
    [step('node.progress', { text: 'reading' }, 'a'), 'a: reading'],
    [step('input.required', { question: 'Which?' }, 'a'), 'a asks: Which?'],
    [said('TASK_STATE_WORKING', 'on it'), 'on it'],
    [step('node.progress', { artifact: {} }, 'a'), undefined],
    [step('a2a.sending', {}, 'a'), undefined],
    [step('node.started'), undefined],
    [said('TASK_STATE_COMPLETED', 'the result'), undefined],
  ])('tells of %j: %s', (event, text) => expect(progressText(event)).toBe(text));

  it('is the position in the run, is sent again while nothing happens, and ends', () => {
    jest.useFakeTimers();
    const sent: ProgressNotification[] = [];
    {
      using progress = new ProgressNotifier(async (it) => void sent.push(it));
      jest.advanceTimersByTime(15_000);
      progress.reportEvent(said('TASK_STATE_WORKING', 'on it'), 7);
      jest.advanceTimersByTime(30_000);
    }
    jest.advanceTimersByTime(60_000);
    const again = { message: 'on it' };
    expect(sent).toEqual([{ progress: 0.01 }, ...[7, 7.01, 7.02].map((progress) => ({ progress, ...again }))]);
  });

  it('increases from one call to the next, also by the same events again', () => {
    const sent: number[] = [];
    using progress = new ProgressNotifier(async (it) => void sent.push(it.progress));
    progress.resumeAt(12);
    for (const sequence of [3, 13, 13, 14]) progress.reportEvent(said('TASK_STATE_WORKING', 'on it'), sequence);
    expect(sent).toEqual([12.01, 13, 13.01, 14]);
  });

  it('does not mind a client that has left', async () => {
    using progress = new ProgressNotifier(() => Promise.reject(new Error('gone')));
    progress.reportEvent(said('TASK_STATE_WORKING', 'on it'), 1);
    await Promise.resolve();
  });
});
