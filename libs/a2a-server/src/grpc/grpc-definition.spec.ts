import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { encodesMoreMembers, JSON_IN_CANCEL, JSON_IN_SEND } from './grpc-definition.js';

function sent(data: JsonValue, metadata: JsonObject = {}): Buffer {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x'.repeat(5_000) }, { data }], metadata };
  return A2AService.sendMessage.requestSerialize(sdk.SendMessageRequest.fromJSON({ message, metadata }));
}

describe('members of the JSON in an encoded request', () => {
  test.each<[string, Buffer, number]>([
    ['an object', sent({ a: 1, b: 'x', c: null }), 3],
    ['a list', sent([1, [], {}, [true, 'a']]), 6],
    ['what is nested', sent({ a: { b: [{ c: 1 }] } }), 4],
    ['metadata', sent({}, { a: 1, b: { c: 2 } }), 6],
    ['none', sent('a, [b'), 0],
  ])('%s', (_what, bytes, members) => {
    expect(encodesMoreMembers(bytes, JSON_IN_SEND, members)).toBe(false);
    if (members > 0) expect(encodesMoreMembers(bytes, JSON_IN_SEND, members - 1)).toBe(true);
  });

  test('of a cancel', () => {
    const request = sdk.CancelTaskRequest.fromJSON({ id: 'x'.repeat(100), metadata: { a: 1, b: [2] } });
    const bytes = A2AService.cancelTask.requestSerialize(request);
    expect(encodesMoreMembers(bytes, JSON_IN_CANCEL, 3)).toBe(false);
    expect(encodesMoreMembers(bytes, JSON_IN_CANCEL, 2)).toBe(true);
  });

  test('bytes that are no request are left to the decoder', () => {
    expect(encodesMoreMembers(Buffer.alloc(10_000, 0xff), JSON_IN_SEND, 1)).toBe(false);
    expect(encodesMoreMembers(sent({ a: 1 }).subarray(0, -9), JSON_IN_SEND, 50)).toBe(false);
  });
});
