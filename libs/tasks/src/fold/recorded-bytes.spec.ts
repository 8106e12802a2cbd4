import { InFlight, Metrics } from '#libs/service';
import { type RecordedEvent, type TaskEvent, toStreamResponse } from './task-event.js';
import { eventBytes, RecordedBytes } from './task-fold.js';

const OWNER = { tenant: '', owner: 'ann' };

function event(received?: string): RecordedEvent {
  const status = { state: 'TASK_STATE_WORKING' as const, timestamp: '2026-01-01T00:00:00.000Z' };
  const statusUpdate = { taskId: 't', contextId: 'c', status };
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: received ?? '' }] };
  const reported: TaskEvent = { statusUpdate, ...(received !== undefined && { received: message }) };
  return { taskId: 't', sequence: 1, event: reported, json: JSON.stringify(toStreamResponse(reported)) };
}

function setUp(): { inFlight: InFlight; bytes: RecordedBytes; record(it: RecordedEvent): void } {
  const memory = { inFlightBytes: 1e9, callerInFlightBytes: 1e9 };
  const inFlight = new InFlight({ memory } as never, new Metrics());
  const bytes = new RecordedBytes(inFlight, OWNER);
  return { inFlight, bytes, record: (it) => bytes.addRecorded(eventBytes(it.event, it.json)) };
}

describe('RecordedBytes', () => {
  it('counts nothing as waiting once it is durable, also of a Message that came with it', () => {
    const { inFlight, bytes, record } = setUp();
    const events = [event('x'.repeat(100_000)), event('ä'.repeat(100_000)), event()];
    events.forEach(record);
    expect(bytes.waiting).toBeGreaterThan(200_000);
    bytes.settleWritten(events);
    expect(bytes.waiting).toBe(0);
    // The texts of the Messages stay in memory with the Task.
    expect(inFlight.total).toBeGreaterThan(100_000);
    expect(inFlight.total).toBeLessThan(101_000);
    bytes.releaseAll();
    expect(inFlight.total).toBe(0);
  });

  it('counts nothing any more once it is released, whatever was waiting', () => {
    const { inFlight, bytes, record } = setUp();
    const late = event('x'.repeat(1000));
    record(late);
    bytes.releaseAll();
    bytes.settleWritten([late]);
    expect([bytes.waiting, inFlight.total]).toEqual([0, 0]);
  });
});
