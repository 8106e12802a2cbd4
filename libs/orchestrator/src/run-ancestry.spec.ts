import type { TaskStore } from '#libs/tasks';
import { ANCESTRY_KEY, ancestryMetadata, ancestryOf, refuseLoop } from './run-ancestry.js';

function storeOf(agents: Record<string, string>): TaskStore {
  return { header: async (id: string) => agents[id] && { taskId: id, agent: agents[id] } } as unknown as TaskStore;
}

describe('run ancestry', () => {
  it('is read from metadata as far as it is one', () => {
    expect(ancestryOf(ancestryMetadata(['a', 'b']))).toEqual(['a', 'b']);
    expect(ancestryMetadata([])).toEqual({});
    expect(ancestryOf({ [ANCESTRY_KEY]: 'a' })).toEqual([]);
    expect(ancestryOf({ [ANCESTRY_KEY]: ['a', 1, null] })).toEqual(['a']);
    expect(ancestryOf(undefined)).toEqual([]);
  });

  it('refuses an agent that one of the runs belongs to', async () => {
    const store = storeOf({ r1: 'workflows/a', r2: 'workflows/b' });
    await expect(refuseLoop(store, 'workflows/b', ['r1', 'r2'])).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      detailReason: 'LOOP_DETECTED',
    });
    await expect(refuseLoop(store, 'workflows/c', ['r1', 'r2', 'foreign'])).resolves.toBeUndefined();
  });

  it('refuses a depth that makes no sense', async () => {
    const many = Array.from({ length: 33 }, (_, index) => `r${index}`);
    await expect(refuseLoop(storeOf({}), 'workflows/a', many)).rejects.toMatchObject({ detailReason: 'LOOP_DETECTED' });
  });
});
