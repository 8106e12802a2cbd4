import type { JsonObject } from '../json.js';
import { type Message, withKeptFile } from '../message.js';
import type { Task } from '../task.js';
import {
  isPre10Task,
  readPre10SendParams,
  readPre10SendResult,
  writePre10SendParams,
  writePre10Task,
} from './pre-1-0.js';
import { InvalidProtocolValue, readStreamResponse } from './proto-json.js';

const newId = (): string => 'new';
const said: Message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const task: Task = { id: 'task-1', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, history: [said] };

describe('requests of the pre-1.0 dialect', () => {
  const request = {
    message: {
      messageId: 'm1',
      role: 'ROLE_USER' as const,
      contextId: 'c',
      taskId: 't',
      parts: [{ text: 'hi', metadata: { a: 1 } }, { data: { n: 1 } }, { text: '# Hi', mediaType: 'text/markdown' }],
      metadata: { chain: [1] },
      extensions: ['urn:x'],
      referenceTaskIds: ['r'],
    },
    configuration: {
      acceptedOutputModes: ['text/plain', 'application/json'],
      historyLength: 3,
      returnImmediately: true,
    },
    metadata: { revision: '1' },
  };
  const parts = [
    { type: 'text', text: 'hi', mimeType: 'text/plain' },
    { type: 'data', data: { n: 1 }, mimeType: 'application/json' },
    { type: 'text', text: '# Hi', mimeType: 'text/markdown' },
  ];
  const configuration = { acceptedOutputModes: ['text/plain', 'application/json'], blocking: true };

  it('name the ids and the metadata of 1.0 beside what the dialect knows', () => {
    expect(writePre10SendParams(request)).toEqual({
      message: { role: 'user', parts, messageId: 'm1', contextId: 'c', taskId: 't', metadata: { chain: [1] } },
      configuration,
      metadata: { revision: '1' },
    });
  });

  it('keep nothing but role, Parts and the Task that they are for where they are bare', () => {
    expect(writePre10SendParams(request, true)).toEqual({
      message: { role: 'user', parts, taskId: 't' },
      configuration,
    });
    const { taskId: _taskId, ...first } = request.message;
    expect(writePre10SendParams({ ...request, message: first }, true)).toEqual({
      message: { role: 'user', parts },
      configuration,
    });
  });

  it('are read again as they were written', () => {
    const { message } = readPre10SendParams(writePre10SendParams(request), newId) as { message: JsonObject };
    expect(message).toMatchObject({ messageId: 'm1', contextId: 'c', taskId: 't', role: 'ROLE_USER' });
  });
});

describe('Tasks as they are written for the pre-1.0 dialect', () => {
  it('name large bytes that are kept as a file by its URL', () => {
    const url = 'https://parley.example.com/api/files/f1';
    const part = withKeptFile({ raw: 'AAAA', mediaType: 'image/png' }, url, { id: 'f1', size: 3, sha256: 'x' });
    const parts = [{ type: 'text', text: url, mimeType: 'text/uri-list' }];
    const written = writePre10Task({ ...task, artifacts: [{ artifactId: 'a', parts: [part] }] });
    expect(written.artifacts).toEqual([expect.objectContaining({ parts })]);
  });
});

describe('Tasks as they are read from the pre-1.0 dialect', () => {
  const answered = (result: JsonObject) => readStreamResponse(readPre10SendResult(result));
  const artifacts = [{ index: 0, name: 'n', parts: [{ type: 'text', text: 'yes', mimeType: 'text/plain' }] }];
  const user = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };
  const agent: JsonObject = {
    role: 'agent',
    parts: [
      { type: 'text', text: 'Which?' },
      { type: 'data', data: [1] },
    ],
  };

  it.each([
    ['created', 'TASK_STATE_SUBMITTED'],
    ['working', 'TASK_STATE_WORKING'],
    ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
    ['completed', 'TASK_STATE_COMPLETED'],
    ['failed', 'TASK_STATE_FAILED'],
    ['canceled', 'TASK_STATE_CANCELED'],
  ])('are in the state of the word %s', (status, state) => {
    expect(answered({ id: 't', status })).toMatchObject({ task: { id: 't', contextId: '', status: { state } } });
  });

  it('have Artifacts and a history', () => {
    const read = answered({ id: 't', contextId: 'c', status: 'completed', messages: [user, agent], artifacts });
    expect(read).toMatchObject({
      task: {
        contextId: 'c',
        artifacts: [{ artifactId: 'artifact-0', name: 'n', parts: [{ text: 'yes', mediaType: 'text/plain' }] }],
        history: [{ role: 'ROLE_USER', parts: [{ text: 'hi' }] }, { role: 'ROLE_AGENT' }],
      },
    });
    expect(read).not.toHaveProperty('task.status.message');
  });

  it.each(['input-required', 'failed', 'canceled', 'completed'])(
    'that are %s say in their status what the agent said last',
    (status) => {
      const read = answered({ id: 't', status, messages: [user, agent], artifacts: [] });
      expect(read).toMatchObject({ task: { status: { message: { parts: [{ text: 'Which?' }, { data: [1] }] } } } });
      expect(answered({ id: 't', status, messages: [user] })).not.toHaveProperty('task.status.message');
    },
  );

  it('have Messages of the same ids whenever they are read', () => {
    const ids = () => {
      const read = answered({ id: 't', status: 'failed', messages: [user, agent] });
      return 'task' in read ? read.task.history?.map(({ messageId }) => messageId) : [];
    };
    expect(new Set(ids())).toEqual(new Set(ids()));
    expect(new Set(ids()).size).toBe(2);
  });

  it('of a status that is no word of the dialect are refused with that word, cut', () => {
    const refused = (status: string) => () => answered({ id: 't', status });
    expect(refused('paused')).toThrow(new InvalidProtocolValue('the status "paused" is no status of a Task'));
    expect(refused('x'.repeat(1_000))).toThrow(`"${'x'.repeat(64)}"`);
  });

  it('are told from answers of 1.0, which pass as they are', () => {
    expect(isPre10Task({ id: 't', status: 'paused' })).toBe(true);
    for (const other of [{ task: { id: 't', status: 'completed' } }, { id: 't', status: { state: 'x' } }, [], null, 1])
      expect(isPre10Task(other)).toBe(false);
    const result = { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' } } };
    expect(readPre10SendResult(result)).toBe(result);
    expect(answered({ messageId: 'm', role: 'agent', parts: [{ type: 'text', text: 'hi' }] })).toMatchObject({
      message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] },
    });
  });
});

describe('Tasks as the pre-1.0 dialect writes them', () => {
  it('end with the result as the agent’s message', () => {
    const artifacts = [{ artifactId: 'a', name: 'n', parts: [{ text: 'yes' }, { data: [1] }] }];
    const parts = [
      { type: 'text', text: 'yes', mimeType: 'text/plain' },
      { type: 'data', data: [1], mimeType: 'application/json' },
    ];
    expect(writePre10Task({ ...task, artifacts })).toEqual({
      id: 'task-1',
      contextId: 'c',
      status: 'completed',
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'hi', mimeType: 'text/plain' }] },
        { role: 'agent', parts },
      ],
      artifacts: [{ name: 'n', parts, index: 0 }],
    });
  });

  it('tell an error as the agent’s message', () => {
    const message: Message = { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'no luck' }] };
    const failed = { ...task, status: { state: 'TASK_STATE_FAILED' as const, message }, history: [said, message] };
    expect(writePre10Task(failed)).toMatchObject({
      status: 'failed',
      messages: [{ role: 'user' }, { role: 'agent', parts: [{ text: 'Error: no luck' }] }],
      artifacts: [],
    });
  });

  it('show a question once', () => {
    const message: Message = { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'Which?' }] };
    const waiting = {
      ...task,
      status: { state: 'TASK_STATE_INPUT_REQUIRED' as const, message },
      history: [said, message],
    };
    expect(writePre10Task(waiting)).toMatchObject({ status: 'input-required', messages: { length: 2 } });
  });
});
