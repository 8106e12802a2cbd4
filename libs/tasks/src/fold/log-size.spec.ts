import { artifactUpdate, statusUpdate, userMessage } from '#libs/protocol';
import { eventBytes, LogSize } from './task-fold.js';

const REFERENCE = { taskId: 't', contextId: 'c' };
const LIMITS = { event: 1_000_000, artifact: 200_000, log: 500_000 };
const chunk = (artifactId: string, append = false) => artifactUpdate(REFERENCE, { artifactId, parts: [] }, { append });
const working = statusUpdate(REFERENCE, 'TASK_STATE_WORKING');
const failed = statusUpdate(REFERENCE, 'TASK_STATE_FAILED');

describe('LogSize', () => {
  it('limits one event', () => {
    expect(() => new LogSize(LIMITS, 0).checkEvent(working, 1_000_001)).toThrow('at most 1000000 bytes (EVENT_LIMIT)');
  });

  it('limits an Artifact by the sum of its chunks; what replaces it begins anew', () => {
    const size = new LogSize(LIMITS, 0);
    size.countEvent(chunk('a'), 150_000);
    size.countEvent(chunk('b'), 150_000);
    expect(() => size.checkEvent(chunk('a', true), 60_000)).toThrow('at most 200000 bytes (ARTIFACT_LIMIT)');
    expect(() => size.checkEvent(chunk('a'), 60_000)).not.toThrow();
    expect(() => size.checkEvent(chunk('c', true), 60_000)).not.toThrow();
  });

  it('limits the log, with what it held before', () => {
    const size = new LogSize(LIMITS, 400_000);
    size.countEvent(working, 50_000);
    expect(() => size.checkEvent(working, 50_000)).not.toThrow();
    expect(() => size.checkEvent(working, 50_001)).toThrow('at most 500000 bytes (TASK_LIMIT)');
  });

  it('leaves room for a few words and the end', () => {
    const size = new LogSize(LIMITS, 500_000);
    expect(() => size.checkEvent(working, 10_000)).not.toThrow();
    expect(() => size.checkEvent(failed, 60_000)).not.toThrow();
    expect(() => size.checkEvent(failed, 70_000)).toThrow('TASK_LIMIT');
    size.countEvent(working, 60_000);
    expect(() => size.checkEvent(working, 10_000)).toThrow('TASK_LIMIT');
    expect(() => size.checkEvent(failed, 10_000)).not.toThrow();
  });

  it('counts the Message that an event answers to', () => {
    const received = userMessage('x'.repeat(5_000));
    expect(eventBytes({ ...working, received }, '{}')).toBeGreaterThan(5_000);
    expect(eventBytes(working, '{}')).toBe(2);
  });
});
