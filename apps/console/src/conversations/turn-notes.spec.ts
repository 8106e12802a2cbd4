import { turnNotes } from './turn-notes.js';

const step = (metadata: Record<string, unknown>) => ({
  sequence: 1,
  item: { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' }, metadata } },
});
const stream = (phase: string, turn: number) => ({ 'parley/stream': { stream: 'a2a', data: { phase, turn } } });

describe('what the log of a conversation tells of its turns', () => {
  it('names the Task of a turn as soon as it is known', () => {
    const { tasks } = turnNotes([
      step(stream('turn', 0)),
      step({ 'parley/step': { call: 1, taskId: 'a' } }),
      step({ 'parley/step': { call: 'announce', taskId: 'b' } }),
    ]);
    expect([...tasks]).toEqual([[1, 'a']]);
  });

  it('says which turns a person said', () => {
    const { injected } = turnNotes([
      step({ ...stream('turn', 1), 'parley/step': { call: 1 } }),
      step({ ...stream('turn', 2), 'parley/step': { command: 1 } }),
      step({ 'parley/step': { command: 2, paused: true } }),
      step({ ...stream('complete', 3), 'parley/step': { command: 3 } }),
    ]);
    expect([...injected]).toEqual([2]);
  });
});
