import { firstTaskIdOf, newTaskId } from './task-event.js';

describe('newTaskId', () => {
  it('makes UUIDs of version 7, all different, in order of time', () => {
    const ids = Array.from({ length: 2000 }, newTaskId);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
    const times = ids.map((id) => id.slice(0, 13));
    expect([...times].sort()).toEqual(times);
  });
});

describe('firstTaskIdOf', () => {
  it('lies between the ids made before a time and those made since', () => {
    const time = new Date();
    const id = newTaskId();
    const [earlier, later] = [new Date(time.getTime() - 1), new Date(Date.now() + 1)];
    expect(firstTaskIdOf(earlier) < id).toBe(true);
    expect(firstTaskIdOf(time) < id).toBe(true);
    expect(firstTaskIdOf(later) > id).toBe(true);
  });
});
