import { filesNamedIn, type RecordedEvent } from './task-event.js';

const ID = '019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41';
const OTHER = '019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d42';
const url = (id: string): string => `https://parley.example.com/api/files/${id}`;

function artifact(...parts: object[]): RecordedEvent {
  const event = { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts } } };
  return { taskId: 't', sequence: 1, event, json: JSON.stringify(event) } as unknown as RecordedEvent;
}

describe('filesNamedIn', () => {
  it('finds the files that events name, each once', () => {
    const events = [artifact({ url: url(ID) }, { text: `see ${url(OTHER)}.` }), artifact({ url: url(ID) })];
    expect(filesNamedIn(events)).toEqual([ID, OTHER]);
  });

  it('finds the files of a Message that an event has taken in', () => {
    const status = { state: 'TASK_STATE_WORKING' };
    const event = { statusUpdate: { taskId: 't', contextId: 'c', status }, received: { parts: [{ url: url(ID) }] } };
    const recorded = { taskId: 't', sequence: 2, event, json: '{}' } as unknown as RecordedEvent;
    expect(filesNamedIn([recorded])).toEqual([ID]);
  });

  it.each([
    ['other URLs', { url: 'https://example.com/api/files' }],
    ['what is no id of a file', { url: url('00000000-0000-4000-8000-000000000000') }],
    ['a longer id', { url: url(`${ID}0`) }],
    ['the base64 of bytes', { raw: 'aaaa/api/files/aaaa' }],
  ])('finds none in %s', (_what, part) => {
    expect(filesNamedIn([artifact(part)])).toBeUndefined();
  });

  it('finds a thousand, and no more, beside the bytes of Parts that are kept as files', () => {
    const id = (index: number): string => `019a1f0e-5b7a-7c31-9d2f-${String(index).padStart(12, '0')}`;
    const parts = Array.from({ length: 1_200 }, (_, index) => ({ url: url(id(index)) }));
    expect(filesNamedIn([artifact(...parts)])).toHaveLength(1_000);
    const kept = { url: url(ID), metadata: { 'parley/file': { id: ID, size: 1, sha256: 'x' } } };
    const forged = { text: 'x', metadata: { 'parley/file': { id: 'x\0', size: 1, sha256: 'x' } } };
    expect(filesNamedIn([artifact(...parts, forged), artifact(kept)])).toHaveLength(1_001);
    expect(filesNamedIn([artifact(...parts, forged), artifact(kept)])).toContain(ID);
  });
});
