import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import type { JsonObject, JsonValue } from '../json.js';
import { encodesMoreMembers, MEMBERS_IN_CANCEL, MEMBERS_IN_RESPONSE, MEMBERS_IN_SEND } from './proto-members.js';

function sent(data: JsonValue, metadata: JsonObject = {}): Buffer {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x'.repeat(5_000) }, { data }], metadata };
  return A2AService.sendMessage.requestSerialize(sdk.SendMessageRequest.fromJSON({ message, metadata }));
}

/** Number of Parts in the Message of `sent`. */
const PARTS = 2;

describe('members of an encoded request', () => {
  test.each<[string, Buffer, number]>([
    ['an object', sent({ a: 1, b: 'x', c: null }), 3],
    ['a list', sent([1, [], {}, [true, 'a']]), 6],
    ['what is nested', sent({ a: { b: [{ c: 1 }] } }), 4],
    ['metadata', sent({}, { a: 1, b: { c: 2 } }), 6],
    ['none', sent('a, [b'), 0],
  ])('%s', (_what, bytes, members) => {
    expect(encodesMoreMembers(bytes, MEMBERS_IN_SEND, PARTS + members)).toBe(false);
    expect(encodesMoreMembers(bytes, MEMBERS_IN_SEND, PARTS + members - 1)).toBe(true);
  });

  test('of a cancel', () => {
    const request = sdk.CancelTaskRequest.fromJSON({ id: 'x'.repeat(100), metadata: { a: 1, b: [2] } });
    const bytes = A2AService.cancelTask.requestSerialize(request);
    expect(encodesMoreMembers(bytes, MEMBERS_IN_CANCEL, 3)).toBe(false);
    expect(encodesMoreMembers(bytes, MEMBERS_IN_CANCEL, 2)).toBe(true);
  });

  test('of an answer with a Task, whose texts are not searched', () => {
    const parts = [{ text: 'x'.repeat(100) }, {}];
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts, extensions: ['a', 'b'] };
    const artifacts = [{ artifactId: 'a', parts: [...parts, { data: [1] }], metadata: { a: 1 } }];
    const task = { id: 't', status: { state: 'TASK_STATE_WORKING', message }, history: [message], artifacts };
    const bytes = A2AService.sendMessage.responseSerialize(sdk.SendMessageResponse.fromJSON({ task }));
    // Two Messages with 2 Parts and 2 extensions each, one of them in the history, and an Artifact with 3 Parts.
    const members = 4 + (1 + 4) + (1 + 3 + 1 + 1);
    expect(encodesMoreMembers(bytes, MEMBERS_IN_RESPONSE, members)).toBe(false);
    expect(encodesMoreMembers(bytes, MEMBERS_IN_RESPONSE, members - 1)).toBe(true);
  });

  test('a flood of empty Parts', () => {
    const parts = Array.from({ length: 1_000 }, () => ({}));
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts };
    const bytes = A2AService.sendMessage.requestSerialize(sdk.SendMessageRequest.fromJSON({ message }));
    expect(encodesMoreMembers(bytes, MEMBERS_IN_SEND, 1_000)).toBe(false);
    expect(encodesMoreMembers(bytes, MEMBERS_IN_SEND, 999)).toBe(true);
  });

  test('bytes that are no request are left to the decoder', () => {
    expect(encodesMoreMembers(Buffer.alloc(10_000, 0xff), MEMBERS_IN_SEND, 1)).toBe(false);
    expect(encodesMoreMembers(sent({ a: 1 }).subarray(0, -9), MEMBERS_IN_SEND, 50)).toBe(false);
  });
});
