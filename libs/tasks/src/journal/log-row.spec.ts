import fc from 'fast-check';
import { artifactUpdate, type Message, runEventMetadata, statusUpdate } from '#libs/protocol';
import { ANY_CHARACTER } from '../../../../test/support/any-character.js';
import type { RecordedEvent, TaskEvent } from '../fold/task-event.js';
import type { JournalEntry } from '../store/task-store.js';
import { type LogRow, toEvents, toLogRows } from './log-row.js';

interface Drawn {
  kind: 'status' | 'artifact';
  text: string;
  received?: string;
}

const text = fc.oneof(
  fc.string({ unit: ANY_CHARACTER, maxLength: 80 }),
  fc.integer({ min: 1, max: 7_000 }).map((length) => 'x'.repeat(length)),
);
const id = fc.oneof(
  fc.uuid(),
  fc.string({ unit: ANY_CHARACTER, maxLength: 40 }),
  fc.constantFrom(
    '',
    'a',
    '$&$1$$$`$&',
    '\u0001\u0002\u001e\u001f\u0001\u0002\u001e\u001f',
    '"status":{',
    '"taskId":"\u0001"',
    '\\u0001\\u001e',
    '\u0004WORKING"',
    '\u0004WORKING","message":{',
  ),
);
const drawn: fc.Arbitrary<Drawn> = fc.record(
  { kind: fc.constantFrom('status', 'artifact'), text, received: text },
  { requiredKeys: ['kind', 'text'] },
);

function entry(taskId: string, contextId: string, after: number, all: readonly Drawn[]): JournalEntry {
  const events = all.map((it, index): RecordedEvent => {
    const event = eventOf(taskId, contextId, it);
    const json = JSON.stringify('statusUpdate' in event ? { statusUpdate: event.statusUpdate } : event);
    return { taskId, sequence: after + index + 1, event, json };
  });
  return { taskId, contextId, token: 't', after, events, state: 'TASK_STATE_WORKING', updatedAt: new Date(0) };
}

function eventOf(taskId: string, contextId: string, { kind, text: said, received }: Drawn): TaskEvent {
  if (kind === 'artifact') {
    return { artifactUpdate: { taskId, contextId, artifact: { artifactId: taskId, parts: [{ text: said }] } } };
  }
  const message = (it: string): Message => ({ messageId: 'm', role: 'ROLE_AGENT', contextId, parts: [{ text: it }] });
  const status = { state: 'TASK_STATE_WORKING' as const, message: message(said) };
  return {
    statusUpdate: { taskId, contextId, status },
    ...(received !== undefined && { received: message(received) }),
  };
}

const shown = ({ taskId, sequence, event, json }: RecordedEvent) => ({ taskId, sequence, event, json });

describe('rows of the log', () => {
  it('are the events that they were made of, whatever the ids and texts', () => {
    fc.assert(
      fc.property(
        id,
        id,
        fc.nat(1_000),
        fc.array(drawn, { minLength: 1, maxLength: 80 }),
        (taskId, contextId, after, all) => {
          const written = entry(taskId, contextId, after, all);
          const rows = toLogRows(written);
          const read = rows.flatMap((row) => toEvents({ taskId, contextId }, row.events, row.sequence));
          expect(read.map(shown)).toEqual(written.events.map(shown));
          expect(rows.at(-1)?.sequence).toBe(after + all.length);
        },
      ),
    );
  });

  it('are a whole log as one text', () => {
    fc.assert(
      fc.property(
        id,
        id,
        fc.array(drawn, { minLength: 1, maxLength: 40 }),
        fc.nat(39),
        (taskId, contextId, all, cut) => {
          const written = [all.slice(0, cut), all.slice(cut)].filter(({ length }) => length > 0);
          const rows = written.flatMap((it, index) => toLogRows(entry(taskId, contextId, index && cut, it)));
          const whole = rows.map(({ events }) => events).join('\u001e');
          const read = toEvents({ taskId, contextId }, whole);
          expect(read.map(shown)).toEqual(entry(taskId, contextId, 0, all).events.map(shown));
        },
      ),
    );
  });

  it('are small, unless an event is large, and say whether all that is in them is of Artifacts', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.array(drawn, { minLength: 1, maxLength: 80 }), (taskId, all) => {
        let before = 0;
        for (const row of toLogRows(entry(taskId, 'c', 0, all))) {
          const kinds = all.slice(before, row.sequence).map(({ kind }) => kind);
          expect(row.artifact).toBe(kinds.every((kind) => kind === 'artifact'));
          expect(kinds.length).toBeLessThanOrEqual(32);
          if (kinds.length > 1) expect(row.events.length).toBeLessThanOrEqual(3_000);
          before = row.sequence;
        }
        expect(before).toBe(all.length);
      }),
    );
  });

  it('leave out the ids of the Task and its context, but not from what is large', () => {
    const [taskId, contextId] = ['01900000-0000-7000-8000-000000000001', 'a context of ours'];
    const rows = (all: Drawn[]): LogRow[] => toLogRows(entry(taskId, contextId, 0, all));
    const [small, ...others] = rows([
      { kind: 'status', text: 'one' },
      { kind: 'artifact', text: 'two' },
    ]);
    expect(others).toEqual([]);
    expect(small).toMatchObject({ taskId, sequence: 2, artifact: false });
    expect([small?.events.includes(taskId), small?.events.includes(contextId)]).toEqual([false, false]);
    const [large] = rows([{ kind: 'artifact', text: 'x'.repeat(4_000) }]);
    expect(large?.events).toContain(taskId);
  });

  it('leave out how the events begin that this service makes, and how its notes do', () => {
    const reference = { taskId: '01900000-0000-7000-8000-000000000001', contextId: 'a context of ours' };
    const note = runEventMetadata({ type: 'node.started', payload: { attempt: 1 } });
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] };
    const events: TaskEvent[] = [
      statusUpdate(reference, 'TASK_STATE_WORKING', undefined, note),
      artifactUpdate(reference, artifact, { metadata: note }),
      statusUpdate(reference, 'TASK_STATE_COMPLETED', 'done'),
    ];
    const recorded = events.map((event, index) => ({
      taskId: reference.taskId,
      sequence: index + 1,
      event,
      json: JSON.stringify(event),
    }));
    const [row, ...others] = toLogRows({ ...entry(reference.taskId, reference.contextId, 0, []), events: recorded });
    expect(others).toEqual([]);
    const begun = row?.events.split('\u001e').map((text) => text.slice(0, 5)) ?? [];
    expect(begun).toEqual([
      expect.stringMatching(/^.20\d\d/),
      expect.stringMatching(/^.a","/),
      expect.stringMatching(/^.COMP/),
    ]);
    expect(row?.events).not.toMatch(/Update|parley|0190/);
    expect(toEvents(reference, row?.events ?? '', 3).map(shown)).toEqual(recorded.map(shown));
  });

  it('of before, with one event each, are read the same way', () => {
    const [taskId, contextId] = ['01900000-0000-7000-8000-000000000001', 'c'];
    const { events } = entry(taskId, contextId, 4, [{ kind: 'status', text: 'said', received: 'asked' }]);
    const [{ event, json }] = events as [RecordedEvent];
    const received = 'statusUpdate' in event ? JSON.stringify(event.received) : '';
    const read = toEvents({ taskId, contextId }, `${json}\u001f${received}`, 5);
    expect(read.map(shown)).toEqual(events.map(shown));
  });
});
