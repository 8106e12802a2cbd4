import { parseSendMessage } from '../validation/request-parsers.js';
import { fromPre10Params, toPre10Task } from './pre-1-0-shapes.js';
import type { Message, Task } from '#libs/protocol';

const newId = (): string => 'new';
const said: Message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const task: Task = { id: 'task-1', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, history: [said] };

describe('founding requests', () => {
  it('become requests of today', () => {
    const request = parseSendMessage(
      fromPre10Params(
        {
          message: {
            role: 'user',
            taskId: 'task-1',
            parts: [
              { type: 'text', text: 'hi', mimeType: 'text/plain' },
              { type: 'data', data: { a: 1 }, mimeType: 'application/json' },
            ],
          },
          configuration: { acceptedOutputModes: ['text/plain', 'application/json'], blocking: true },
        },
        newId,
      ),
    );
    expect(request.message).toMatchObject({
      messageId: 'new',
      role: 'ROLE_USER',
      taskId: 'task-1',
      parts: [
        { text: 'hi', mediaType: 'text/plain' },
        { data: { a: 1 }, mediaType: 'application/json' },
      ],
    });
    expect(request.configuration).toEqual({
      acceptedOutputModes: ['text/plain', 'application/json'],
      returnImmediately: false,
    });
  });

  it('may already have the shape of today', () => {
    const request = parseSendMessage(fromPre10Params({ message: said, configuration: { blocking: false } }, newId));
    expect(request.message.messageId).toBe('m1');
    expect(request.configuration?.returnImmediately).toBe(true);
  });

  it.each([undefined, 'x', {}, { message: 1 }, { message: { parts: 1 } }, { message: { parts: [{ type: 'x' }] } }])(
    'are refused where they make no sense: %j',
    (params) => {
      expect(() => parseSendMessage(fromPre10Params(params, newId))).toThrow(expect.objectContaining({ code: -32602 }));
    },
  );
});

describe('founding tasks', () => {
  it('end with the result as the agent’s message', () => {
    const artifacts = [{ artifactId: 'a', name: 'n', parts: [{ text: 'yes' }, { data: [1] }] }];
    const parts = [
      { type: 'text', text: 'yes', mimeType: 'text/plain' },
      { type: 'data', data: [1], mimeType: 'application/json' },
    ];
    expect(toPre10Task({ ...task, artifacts })).toEqual({
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
    expect(toPre10Task(failed)).toMatchObject({
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
    expect(toPre10Task(waiting)).toMatchObject({ status: 'input-required', messages: { length: 2 } });
  });
});
