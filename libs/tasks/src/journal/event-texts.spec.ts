import fc from 'fast-check';
import { artifactUpdate, type Message, runEventMetadata, statusUpdate } from '#libs/protocol';
import { ANY_CHARACTER } from '../../../../test/support/any-character.js';
import { type RecordedEvent, type TaskEvent, toStreamResponse } from '../fold/task-event.js';
import { EventTexts, toEvents, toLogRows } from './log-row.js';

const id = fc.oneof(
  fc.uuid(),
  fc.constantFrom(
    'of-eight',
    'a',
    '',
    'with "quotes"',
    'back\\slash',
    '\u0001\u0002\u001e\u001f\u0003\u0004\u0005\u0006',
    'naïve context',
    '\ud800 alone',
  ),
);
const text = fc.oneof(
  fc.string({ unit: ANY_CHARACTER, maxLength: 60 }),
  fc.constantFrom('x'.repeat(4_000), 'of-eight of-eight'),
);
const metadata = fc.constantFrom(
  undefined,
  { said: 'of-eight', list: [1, null, { deep: true }] },
  runEventMetadata({ type: 'node.started', payload: { attempt: 1 } }),
);

interface Drawn {
  kind:
    | 'working'
    | 'completed'
    | 'said'
    | 'received'
    | 'artifact'
    | 'chunk'
    | 'unnamed'
    | 'odd time'
    | 'another id'
    | 'another order';
  text: string;
  metadata: Parameters<typeof statusUpdate>[3];
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  kind: fc.constantFrom(
    'working',
    'completed',
    'said',
    'received',
    'artifact',
    'chunk',
    'unnamed',
    'odd time',
    'another id',
    'another order',
  ),
  text,
  metadata,
});

function eventOf(
  reference: { taskId: string; contextId: string },
  { kind, text: said, metadata: noted }: Drawn,
): TaskEvent {
  const artifact = { artifactId: said, name: 'one', parts: [{ text: said }] };
  const received: Message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: said }] };
  switch (kind) {
    case 'working':
      return statusUpdate(reference, 'TASK_STATE_WORKING', undefined, noted);
    case 'completed':
      return statusUpdate(reference, 'TASK_STATE_COMPLETED', undefined, noted);
    case 'said':
      return statusUpdate(reference, 'TASK_STATE_FAILED', said, noted);
    case 'received':
      return { ...statusUpdate(reference, 'TASK_STATE_WORKING', undefined, noted), received };
    case 'artifact':
      return artifactUpdate(reference, artifact, noted && { metadata: noted });
    case 'chunk':
      return artifactUpdate(reference, artifact, { append: true, lastChunk: false, ...(noted && { metadata: noted }) });
    case 'unnamed':
      return artifactUpdate(reference, { parts: [{ text: said }] });
    case 'odd time': {
      const { statusUpdate: update } = statusUpdate(reference, 'TASK_STATE_WORKING');
      return { statusUpdate: { ...update, status: { state: 'TASK_STATE_WORKING', timestamp: '"of \\ no time' } } };
    }
    case 'another id':
      return { statusUpdate: { ...statusUpdate(reference, 'TASK_STATE_WORKING').statusUpdate, taskId: 'another' } };
    case 'another order': {
      const { status } = statusUpdate(reference, 'TASK_STATE_COMPLETED').statusUpdate;
      const { taskId, contextId } = reference;
      const turned = { timestamp: said, state: status.state };
      return { statusUpdate: noted ? { contextId, taskId, status } : { taskId, contextId, status: turned } };
    }
  }
}

describe('EventTexts', () => {
  it('say what JSON.stringify says to the letter, and are read from their rows as they were written', () => {
    fc.assert(
      fc.property(id, id, fc.array(drawn, { minLength: 1, maxLength: 40 }), (taskId, contextId, all) => {
        const reference = { taskId, contextId };
        const texts = new EventTexts(reference);
        const events = all.map((it, index): RecordedEvent => {
          const event = eventOf(reference, it);
          return { taskId, sequence: index + 1, event, ...texts.serializeEvent(event) };
        });
        for (const { event, json } of events) expect(json).toBe(JSON.stringify(toStreamResponse(event)));
        const rows = toLogRows({
          ...reference,
          token: 't',
          after: 0,
          events,
          state: 'TASK_STATE_WORKING',
          updatedAt: new Date(0),
        });
        const read = rows.flatMap((row) => toEvents(reference, row.events, row.sequence));
        expect(read.map(({ sequence, json }) => ({ sequence, json }))).toEqual(
          events.map(({ sequence, json }) => ({ sequence, json })),
        );
      }),
    );
  });

  it('leave out what every event of the Task says, and leave what is large as it is', () => {
    const reference = { taskId: '01900000-0000-7000-8000-000000000001', contextId: 'a context of ours' };
    const texts = new EventTexts(reference);
    expect(texts.serializeEvent(statusUpdate(reference, 'TASK_STATE_WORKING')).row).toMatch(/^.[\d:.TZ-]{24}"}}}$/);
    expect(texts.serializeEvent(statusUpdate(reference, 'TASK_STATE_COMPLETED', 'done')).row).not.toMatch(
      /0190|a context/,
    );
    const large = artifactUpdate(reference, { artifactId: 'a', parts: [{ text: 'x'.repeat(3_000) }] });
    expect(texts.serializeEvent(large)).toEqual({ json: JSON.stringify(large) });
  });
});
