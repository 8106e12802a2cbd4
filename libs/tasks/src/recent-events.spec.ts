import { statusUpdate, type TaskState } from '#libs/protocol';
import { RecentEvents } from './recent-events.js';
import type { RecordedEvent } from './task-event.js';

function event(sequence: number, state: TaskState = 'TASK_STATE_WORKING', json = '{}'): RecordedEvent {
  return { taskId: 't', sequence, event: statusUpdate({ taskId: 't', contextId: 'c' }, state), json };
}

describe('RecentEvents', () => {
  it('gives what follows a sequence, and nothing where that might be incomplete', () => {
    const recent = new RecentEvents();
    recent.add([event(5), event(6)]);
    expect(recent.after('t', 4)?.map((it) => it.sequence)).toEqual([5, 6]);
    expect(recent.after('t', 5)?.map((it) => it.sequence)).toEqual([6]);
    expect(recent.after('t', 6)).toBeUndefined();
    expect(recent.after('t', 3)).toBeUndefined();
    expect(recent.after('other', 0)).toBeUndefined();
  });

  it('is current only while this process writes the task', () => {
    const recent = new RecentEvents();
    recent.add([event(1)]);
    expect(recent.isCurrent('t', 1)).toBe(true);
    expect(recent.isCurrent('t', 0)).toBe(false);
    recent.add([event(2, 'TASK_STATE_INPUT_REQUIRED')]);
    expect(recent.isCurrent('t', 2)).toBe(false);
  });

  it('begins anew where another process wrote in between', () => {
    const recent = new RecentEvents();
    recent.add([event(1), event(2, 'TASK_STATE_INPUT_REQUIRED')]);
    recent.add([event(9)]);
    expect(recent.after('t', 1)).toBeUndefined();
    expect(recent.after('t', 8)?.map((it) => it.sequence)).toEqual([9]);
  });

  it('keeps a bounded tail of each task', () => {
    const recent = new RecentEvents();
    for (let sequence = 1; sequence <= 200; sequence += 1) recent.add([event(sequence)]);
    expect(recent.after('t', 0)).toBeUndefined();
    expect(recent.after('t', 199)).toHaveLength(1);
    recent.add([event(201, 'TASK_STATE_WORKING', 'x'.repeat(100_000))]);
    expect(recent.after('t', 200)).toBeUndefined();
  });
});
