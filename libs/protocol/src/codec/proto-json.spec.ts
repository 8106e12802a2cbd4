import * as sdk from '@a2a-js/sdk';
import { InvalidProtocolValue, readStreamResponse, readTask } from './proto-json.js';
import { decodeTask } from './sdk-codec.js';

describe('ProtoJSON from the wire', () => {
  const full = {
    id: 't',
    contextId: 'c',
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      timestamp: '2026-01-01T00:00:00.000Z',
      message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: '' }], taskId: 't', contextId: 'c' },
    },
    artifacts: [
      {
        artifactId: 'a',
        name: 'n',
        description: 'd',
        parts: [
          { text: 'x', mediaType: 'text/plain', filename: 'f', metadata: { k: 1 } },
          { raw: 'aGk=' },
          { url: 'https://example.com' },
          { data: { nested: [1, null, { deep: true }] } },
          { data: null },
        ],
        extensions: ['e'],
      },
    ],
    history: [{ messageId: 'h', role: 'ROLE_USER', parts: [], referenceTaskIds: ['r'] }],
    metadata: { any: 'thing' },
  };

  it('passes a whole Task as it is', () => {
    expect(readTask(full)).toEqual(full);
    expect(readStreamResponse({ task: full })).toEqual({ task: full });
  });

  it('leaves out what A2A does not know, and what says no more than its default', () => {
    const padded = {
      ...full,
      kind: 'task',
      artifacts: [],
      history: null,
      status: { ...full.status, extra: 1, message: { ...full.status.message, kind: 'message', extensions: [] } },
    };
    const { artifacts: _a, history: _h, ...bare } = full;
    expect(readTask(padded)).toEqual(bare);
  });

  it('reads the names of the schema, numbers of enums and numbers in place of strings as the SDK does', () => {
    const odd = {
      id: 7,
      context_id: 'c',
      status: { state: 3 },
      artifacts: [{ artifact_id: 'a', parts: [{ text: 5, media_type: 'text/plain' }, { raw: '-_8' }] }],
      history: [{ message_id: 'm', role: 1, task_id: 't', context_id: 'c', reference_task_ids: ['r'], parts: [] }],
    };
    expect(readTask(odd)).toEqual(decodeTask(sdk.Task.fromJSON(odd)));
    expect(readTask(odd)).toMatchObject({ id: '7', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } });
    const update = { status_update: { task_id: 't', context_id: 'c', status: { state: 'TASK_STATE_WORKING' } } };
    expect(readStreamResponse(update)).toEqual({
      statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } },
    });
    const artifact = { artifact: { artifactId: 'a' }, taskId: 't', append: true, last_chunk: true };
    expect(readStreamResponse({ artifact_update: artifact })).toEqual({
      artifactUpdate: {
        taskId: 't',
        contextId: '',
        artifact: { artifactId: 'a', parts: [] },
        append: true,
        lastChunk: true,
      },
    });
  });

  it('gives a Part without content a data that is null', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{}, { text: null }, { data: null }] };
    expect(readStreamResponse({ message })).toEqual({
      message: { ...message, parts: [{ data: null }, { data: null }, { data: null }] },
    });
  });

  it.each([{}, { state: null }, { state: 'TASK_STATE_UNSPECIFIED' }, { state: 'done' }, { state: 0 }, { state: 9 }])(
    'reads a status of %j as that of a Task at work',
    (status) => {
      expect(readTask({ id: 't', contextId: 'c', status }).status).toEqual({ state: 'TASK_STATE_WORKING' });
    },
  );

  it.each([
    [null, 'the Task is not an object'],
    [[], 'the Task is not an object'],
    [{}, 'task.id is missing'],
    [{ id: {} }, 'task.id is not a string'],
    [{ id: 't', contextId: ['c'] }, 'task.contextId is not a string'],
    [{ id: 't' }, 'status is missing'],
    [{ ...full, artifacts: {} }, 'task.artifacts is not an array'],
    [{ ...full, artifacts: ['a'] }, 'task.artifacts holds something that is not an object'],
    [{ ...full, history: [{ parts: 'text' }] }, 'message.parts is not an array'],
    [{ ...full, artifacts: [{ parts: [{ text: {} }] }] }, 'part.text is not a string'],
  ])('refuses %j', (json, problem) => {
    expect(() => readTask(json)).toThrow(InvalidProtocolValue);
    expect(() => readTask(json)).toThrow(problem);
  });
});
