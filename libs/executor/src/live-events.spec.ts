import type { CallContext } from '#libs/agents';
import type { RecordedEvent, TaskRecording } from '#libs/tasks';
import { LiveEvents } from './execution.js';
import { type ExecutionStart, TaskExecution } from './task-execution.js';

const eventOf = (sequence: number): RecordedEvent => ({ sequence }) as RecordedEvent;

function executionFor(parent: CallContext['parent']): TaskExecution {
  const recording = { toTask: () => ({}), lastSequence: 1 } as unknown as TaskRecording;
  const call = { scope: { tenant: '', owner: '' }, agent: 'a', extensions: [], baseUrl: '', ...(parent && { parent }) };
  return new TaskExecution({ recording, call } as unknown as ExecutionStart);
}

describe('the events of an execution that are not durable yet', () => {
  it('are read in their order until the end', async () => {
    const live = new LiveEvents();
    live.push(eventOf(2));
    const read = Array.fromAsync(live);
    await new Promise(setImmediate);
    live.push(eventOf(3));
    live.endStream();
    expect((await read).map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  it('are kept for no reader that has left', async () => {
    const live = new LiveEvents();
    for (const sequence of [2, 3]) live.push(eventOf(sequence));
    for await (const { sequence } of live) {
      expect(sequence).toBe(2);
      break;
    }
    for (const sequence of [4, 5]) live.push(eventOf(sequence));
    expect(await Array.fromAsync(live)).toEqual([]);
  });

  it('are kept for the Task of this process that calls, and for no other', () => {
    const parent = { taskId: 'run', reference: 'a#1' };
    expect(executionFor({ ...parent, token: 'token' }).live).toBeInstanceOf(LiveEvents);
    // A call without a token comes from a Task that was adopted: its caller follows the log instead.
    expect(executionFor(parent).live).toBeUndefined();
    expect(executionFor(undefined).live).toBeUndefined();
  });
});
