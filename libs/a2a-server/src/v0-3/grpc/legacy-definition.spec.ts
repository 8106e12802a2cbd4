import { fromJson, toBinary, toJson, fromBinary, type JsonValue } from '@bufbuild/protobuf';
import { LEGACY_METHODS, readLegacyRequest, writeLegacyResponse } from './legacy-definition.js';
import { legacyMessage } from './legacy-schema.js';

function paramsOf(name: string, request: JsonValue, mostMembers = 100): unknown {
  const method = LEGACY_METHODS[name]!;
  const schema = legacyMessage(method.request);
  return method.read(readLegacyRequest(method, toBinary(schema, fromJson(schema, request)), mostMembers));
}

describe('requests of A2A 0.3 over gRPC', () => {
  it.each<[string, JsonValue, object]>([
    ['GetTask', { name: 'tasks/t', historyLength: 3 }, { id: 't', historyLength: 3 }],
    ['GetTask', { name: 'tasks/t' }, { id: 't' }],
    ['TaskSubscription', { name: 'tasks/t' }, { id: 't' }],
    ['GetTaskPushNotificationConfig', { name: 'tasks/t/pushNotificationConfigs/c' }, { taskId: 't', id: 'c' }],
    ['ListTaskPushNotificationConfig', { parent: 'tasks/t', pageSize: 2 }, { taskId: 't', pageSize: 2 }],
    [
      'CreateTaskPushNotificationConfig',
      { parent: 'tasks/t', configId: 'c', config: { pushNotificationConfig: { url: 'https://a.example' } } },
      { taskId: 't', id: 'c', url: 'https://a.example' },
    ],
  ])('%s reads %j as %j', (name, request, params) => {
    expect(paramsOf(name, request)).toEqual(params);
  });

  it.each<[string, JsonValue, string]>([
    ['GetTask', {}, 'name: must be tasks/{id}'],
    ['CancelTask', { name: 't' }, 'name: must be tasks/{id}'],
    ['CancelTask', { name: 'tasks/a/b' }, 'name: must be tasks/{id}'],
    ['ListTaskPushNotificationConfig', { parent: 't' }, 'parent: must be tasks/{id}'],
    ['DeleteTaskPushNotificationConfig', { name: 'tasks/t' }, 'name: must be tasks/{id}/pushNotificationConfigs/{id}'],
  ])('%s refuses %j', (name, request, message) => {
    expect(() => paramsOf(name, request)).toThrow(message);
  });

  it('reads and writes the name of a file, the metadata of a Part, and the Tasks that a Message names', () => {
    const file = { fileWithBytes: 'JVBERg==', mimeType: 'application/pdf', name: 'tea.pdf' };
    const content = [{ file, metadata: { of: 'us' } }];
    const message = { messageId: 'm', role: 'ROLE_USER', content, referenceTaskIds: ['r'] };
    expect(paramsOf('SendMessage', { message })).toMatchObject({
      message: {
        parts: [{ raw: 'JVBERg==', mediaType: 'application/pdf', filename: 'tea.pdf', metadata: { of: 'us' } }],
        referenceTaskIds: ['r'],
      },
    });
    const status = { state: 'TASK_STATE_WORKING', message };
    const bytes = writeLegacyResponse(LEGACY_METHODS.GetTask!, { id: 't', contextId: 'c', status });
    const schema = legacyMessage('Task');
    expect(toJson(schema, fromBinary(schema, bytes))).toMatchObject({ status: { message } });
  });

  it('refuses bytes that are no message, and more members than allowed', () => {
    const method = LEGACY_METHODS.SendMessage!;
    expect(() => readLegacyRequest(method, Buffer.from([0xff, 0xff]), 100)).toThrow('not one of the protocol');
    const content = [{ data: { data: { a: Array.from({ length: 9 }, () => 1) } } }];
    const request = { message: { messageId: 'm', role: 'ROLE_USER', content } };
    expect(paramsOf('SendMessage', request, 11)).toMatchObject({ message: { messageId: 'm' } });
    expect(() => paramsOf('SendMessage', request, 10)).toThrow(/members/);
  });

  it('writes answers without members that the schema lacks', () => {
    const method = LEGACY_METHODS.GetTask!;
    const status = { state: 'TASK_STATE_CANCELLED', timestamp: '2026-01-02T03:04:05Z' };
    const bytes = writeLegacyResponse(method, { id: 't', contextId: 'c', status, later: 1 });
    const schema = legacyMessage('Task');
    expect(toJson(schema, fromBinary(schema, bytes))).toEqual({ id: 't', contextId: 'c', status });
  });
});
