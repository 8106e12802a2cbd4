import { type Message, readPre10SendParams } from '#libs/protocol';
import { parseSendMessage } from '../validation/request-parsers.js';

const newId = (): string => 'new';
const said: Message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

describe('requests of the pre-1.0 dialect', () => {
  it('become requests of today', () => {
    const request = parseSendMessage(
      readPre10SendParams(
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
    const request = parseSendMessage(readPre10SendParams({ message: said, configuration: { blocking: false } }, newId));
    expect(request.message.messageId).toBe('m1');
    expect(request.configuration?.returnImmediately).toBe(true);
  });

  it.each([undefined, 'x', {}, { message: 1 }, { message: { parts: 1 } }, { message: { parts: [{ type: 'x' }] } }])(
    'are refused where they make no sense: %j',
    (params) => {
      expect(() => parseSendMessage(readPre10SendParams(params, newId))).toThrow(
        expect.objectContaining({ code: -32602 }),
      );
    },
  );
});
