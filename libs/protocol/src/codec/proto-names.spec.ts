import { A2AError } from '../errors.js';
import { protoNames, toJsonNames } from './proto-names.js';

const PART = protoNames(['mediaType']);
const NAMES = protoNames([['request', 'message'], 'taskId'], {
  message: protoNames(['contextId', 'referenceTaskIds'], { parts: PART }),
});

function named(value: unknown): unknown {
  toJsonNames(value, NAMES);
  return value;
}

function refusal(value: unknown): unknown {
  try {
    return named(value);
  } catch (error) {
    return (error as A2AError).violations;
  }
}

describe('names of the schema in ProtoJSON', () => {
  it('become those of JSON, in messages and in lists of them', () => {
    expect(
      named({ task_id: 't', request: { context_id: 'c', parts: [{ text: 'a', media_type: 'm' }, { text: 'b' }] } }),
    ).toEqual({ taskId: 't', message: { contextId: 'c', parts: [{ text: 'a', mediaType: 'm' }, { text: 'b' }] } });
  });

  it('stay what they are where the form is free', () => {
    const free = { task_id: 1, taskId: 2, media_type: { context_id: [] } };
    const message = { metadata: free, parts: [{ data: free, metadata: free }] };
    expect(named(structuredClone({ metadata: free, message }))).toEqual({ metadata: free, message });
  });

  it.each([
    [{ task_id: 't', taskId: 't' }, { taskId: 't' }],
    [{ task_id: null, taskId: 't' }, { taskId: 't' }],
    [{ task_id: 't', taskId: null }, { taskId: 't' }],
    [{ task_id: null }, { taskId: null }],
    [{ message: { reference_task_ids: ['a'], referenceTaskIds: ['a'] } }, { message: { referenceTaskIds: ['a'] } }],
    [{ request: { a: [1, { b: null }] }, message: { a: [1, { b: null }] } }, { message: { a: [1, { b: null }] } }],
  ])('may stand beside the same value: %j', (given, read) => {
    expect(named(given)).toEqual(read);
  });

  it.each([
    [{ task_id: 't', taskId: 'u' }, 'taskId', 'task_id'],
    [{ task_id: '', taskId: 'u' }, 'taskId', 'task_id'],
    [{ request: {}, message: { parts: [] } }, 'message', 'request'],
    [
      { message: { referenceTaskIds: ['a'], reference_task_ids: ['b'] } },
      'message.referenceTaskIds',
      'reference_task_ids',
    ],
    [{ message: { parts: [{}, { mediaType: 'a', media_type: 'b' }] } }, 'message.parts[1].mediaType', 'media_type'],
  ])('are refused beside another value: %j', (given, field, proto) => {
    expect(refusal(given)).toEqual([{ field, description: `is also given as ${proto}, with another value` }]);
  });

  it('are compared no deeper than a request may be', () => {
    const deep = (): unknown => JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(refusal({ task_id: deep(), taskId: deep() })).toMatchObject([{ field: 'taskId' }]);
  });

  it('are looked for no deeper than the schema goes', () => {
    const message: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(() => toJsonNames({ message }, NAMES)).not.toThrow();
  });

  it.each([null, 5, 'task_id', [], [[{ task_id: 5 }]], { message: 'x' }, { message: { parts: { media_type: 5 } } }])(
    'leaves nonsense for the schema to refuse: %j',
    (nonsense) => {
      expect(() => toJsonNames(nonsense, NAMES)).not.toThrow();
    },
  );
});
