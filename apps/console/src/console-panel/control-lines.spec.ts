import { controlLine } from './control-lines.js';

const line = (type: string, payload: object, more: object = {}) => controlLine(type, { ...more, payload });
const failure = { kind: 'timeout', message: 'too slow' };

describe('controlLine', () => {
  it.each([
    ['node.skipped', { instances: ['b', 'c'], because: 'off' }, 'b, c: off'],
    ['node.reused', { origin: 'r1' }, 'reused from run r1'],
    ['node.progress', { text: 'reading' }, 'reading'],
    ['node.progress', { artifact: { parts: [{ text: 'one ' }, { text: 'two' }] } }, 'one two'],
    ['edge.error', { edge: 2, failure }, 'edge 2: too slow'],
    ['each.started', { items: [1, 2, 3] }, '3 entries'],
    ['loop.next', { iteration: 2 }, 'iteration 2'],
    ['loop.ended', { iterations: 3, reason: 'max' }, 'ended after 3: max'],
    ['run.parked', {}, 'waits for an answer'],
    ['node.resumed', { taskId: 't' }, 'continues without an answer from the run'],
    ['run.deadline', { failure }, 'too slow'],
  ])('says of %s %j: %s', (type, payload, text) => expect(line(type, payload)).toBe(text));

  it('names the instance, and times as the clock on the wall has them', () => {
    const at = '2026-01-01T10:00:00Z';
    const retrying = line('node.retrying', { attempt: 1, failure, retryAt: at }, { node_id: 'a', instance: 'a@2' });
    expect(retrying).toBe(`[a@2] attempt 1 failed, the next one at ${new Date(at).toLocaleString()}: too slow`);
    expect(line('node.waiting', { until: at }, { node_id: 'a' })).toBe(
      `[a] waits until ${new Date(at).toLocaleString()}`,
    );
  });

  it('shortens what would be too long, and leaves other events alone', () => {
    const instances = Array.from({ length: 12 }, (_, index) => `x[${index}]`);
    expect(line('node.skipped', { instances, because: 'failure' })).toMatch(/x\[9\], and 2 more: failure$/);
    expect(line('node.started', { attempt: 1 })).toBeUndefined();
  });
});
