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

  it('counts, is told again while nothing happens, and ends', () => {
    jest.useFakeTimers();
    const sent: ProgressNotification[] = [];
    {
      using progress = new ProgressNotifier(async (it) => void sent.push(it));
      jest.advanceTimersByTime(15_000);
      progress.reportEvent(said('TASK_STATE_WORKING', 'on it'));
      jest.advanceTimersByTime(30_000);
    }
    jest.advanceTimersByTime(60_000);
    const again = { message: 'on it' };
    expect(sent).toEqual([{ progress: 1 }, ...[2, 3, 4].map((progress) => ({ progress, ...again }))]);
  });

  it('does not mind a client that has left', async () => {
    using progress = new ProgressNotifier(() => Promise.reject(new Error('gone')));
    progress.reportEvent(said('TASK_STATE_WORKING', 'on it'));
    await Promise.resolve();
  });
});
