import { statusUpdate, type TaskState } from '#libs/protocol';
import type { RecordedEvent } from '../fold/task-event.js';
import { RecentEvents } from './task-feed.js';

const REFERENCE = { taskId: 't', contextId: 'c' };

function event(sequence: number, state: TaskState = 'TASK_STATE_WORKING', json = '{}'): RecordedEvent {
  return { taskId: 't', sequence, event: statusUpdate(REFERENCE, state), json };
}

describe('RecentEvents', () => {
  it('gives what follows a sequence, and nothing where that might be incomplete', () => {
    const recent = new RecentEvents();
    recent.add([event(5), event(6)]);
    expect(recent.findAfter('t', 4)?.map((it) => it.sequence)).toEqual([5, 6]);
    expect(recent.findAfter('t', 5)?.map((it) => it.sequence)).toEqual([6]);
    expect(recent.findAfter('t', 6)).toBeUndefined();
    expect(recent.findAfter('t', 3)).toBeUndefined();
    expect(recent.findAfter('other', 0)).toBeUndefined();
  });

  it('is current only while this process writes the task', () => {
    const recent = new RecentEvents();
    recent.add([event(1)]);
    expect(recent.isCurrent('t', 1)).toBe(true);
    expect(recent.isCurrent('t', 0)).toBe(false);
    recent.add([event(2, 'TASK_STATE_INPUT_REQUIRED')]);
    expect(recent.isCurrent('t', 2)).toBe(false);
  });

  it('is current at the end of the log of a task that this process takes up, before it writes anything', () => {
    const recent = new RecentEvents();
    recent.openTail('t', 4);
    expect([3, 4, 5].map((sequence) => recent.isCurrent('t', sequence))).toEqual([false, true, true]);
    recent.add([event(5)]);
    expect(recent.findAfter('t', 4)).toHaveLength(1);
    recent.openTail('t', 5);
    expect(recent.findAfter('t', 4)).toHaveLength(1);
    recent.openTail('t', 8);
    expect([7, 8].map((sequence) => recent.isCurrent('t', sequence))).toEqual([false, true]);
    expect(recent.findAfter('t', 4)).toBeUndefined();
  });

  it('is not current of a task that was parked: whoever wakes it writes it', () => {
    const recent = new RecentEvents();
    recent.add([{ ...event(1), event: { ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), parks: new Date() } }]);
    expect(recent.isOpen('t')).toBe(false);
    expect(recent.findAfter('t', 0)).toHaveLength(1);
  });

  it('begins anew where another process wrote in between', () => {
    const recent = new RecentEvents();
    recent.add([event(1), event(2, 'TASK_STATE_INPUT_REQUIRED')]);
    recent.add([event(9)]);
    expect(recent.findAfter('t', 1)).toBeUndefined();
    expect(recent.findAfter('t', 8)?.map((it) => it.sequence)).toEqual([9]);
  });

  it('keeps a bounded tail of each task', () => {
    const recent = new RecentEvents();
    for (let sequence = 1; sequence <= 2000; sequence += 1) recent.add([event(sequence)]);
    expect(recent.findAfter('t', 0)).toBeUndefined();
    expect(recent.findAfter('t', 1999)).toHaveLength(1);
    recent.add([event(2001, 'TASK_STATE_WORKING', 'x'.repeat(2 * 1024 * 1024))]);
    expect(recent.isCurrent('t', 2000)).toBe(false);
    expect(recent.findAfter('t', 2000)).toBeUndefined();
    recent.add([event(2002)]);
    expect(recent.findAfter('t', 1999)).toBeUndefined();
    expect(recent.findAfter('t', 2001)).toHaveLength(1);
  });

  it('is bounded over all tasks, and forgets what was written longest ago', () => {
    const recent = new RecentEvents();
    const large = 'x'.repeat(512 * 1024);
    for (let task = 1; task <= 64; task += 1) {
      recent.add([{ ...event(1, 'TASK_STATE_WORKING', large), taskId: `t${task}` }]);
    }
    expect(recent.findAfter('t1', 0)).toBeUndefined();
    expect(recent.findAfter('t64', 0)).toHaveLength(1);
  });
});
