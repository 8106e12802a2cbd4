import type { JsonObject, JsonValue } from '../json.js';
import type { Part } from '../message.js';
import { readV03RestPushConfig, readV03RestSend, writeV03RestItem, writeV03RestPushConfig } from './v0-3-rest.js';
import {
  readV03OnePushParams,
  readV03PushConfig,
  readV03PushParams,
  readV03SendParams,
  writeV03PushConfig,
  writeV03StreamItem,
  writeV03Task,
} from './v0-3.js';

const PARTS: [string, Part, JsonValue, JsonValue][] = [
  ['text', { text: '' }, { kind: 'text', text: '' }, { text: '' }],
  ['an object', { data: { a: 1 } }, { kind: 'data', data: { a: 1 } }, { data: { data: { a: 1 } } }],
  [
    'other data',
    { data: [1], metadata: { m: 1 } },
    { kind: 'data', data: { value: [1] }, metadata: { m: 1, data_part_compat: true } },
    { data: { data: { value: [1] } }, metadata: { m: 1, data_part_compat: true } },
  ],
  [
    'null',
    { data: null },
    { kind: 'data', data: { value: null }, metadata: { data_part_compat: true } },
    { data: { data: { value: null } }, metadata: { data_part_compat: true } },
  ],
  [
    'bytes',
    { raw: 'aGk=', mediaType: 'text/plain', filename: 'a' },
    { kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain', name: 'a' } },
    { file: { fileWithBytes: 'aGk=', mimeType: 'text/plain', name: 'a' } },
  ],
  ['a URL', { url: 'http://a' }, { kind: 'file', file: { uri: 'http://a' } }, { file: { fileWithUri: 'http://a' } }],
];

describe('the codec of A2A 0.3', () => {
  it.each(PARTS)('writes and reads a Part with %s in both forms', (_what, part, rpc, rest) => {
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [part] };
    const written = writeV03StreamItem({ message });
    expect(written).toEqual({ kind: 'message', messageId: 'm', role: 'user', parts: [rpc] });
    expect(readV03SendParams({ message: written })).toMatchObject({ message });
    const overRest = writeV03RestItem({ message });
    expect(overRest).toEqual({ message: { messageId: 'm', role: 'ROLE_USER', content: [rest] } });
    expect(readV03RestSend(overRest)).toEqual({ message });
  });

  it('names the states in its own way, and says which status is the last', () => {
    const of = (state: 'TASK_STATE_WORKING' | 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_CANCELED') => ({
      statusUpdate: { taskId: 't', contextId: 'c', status: { state } },
    });
    const rpc = (it: Parameters<typeof of>[0]) => writeV03StreamItem(of(it));
    const ids = { kind: 'status-update', taskId: 't', contextId: 'c' };
    expect(rpc('TASK_STATE_WORKING')).toEqual({ ...ids, status: { state: 'working' }, final: false });
    expect(rpc('TASK_STATE_INPUT_REQUIRED')).toEqual({ ...ids, status: { state: 'input-required' }, final: true });
    expect(writeV03RestItem(of('TASK_STATE_CANCELED'))).toEqual({
      statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_CANCELLED' }, final: true },
    });
  });

  it('writes a Task with all that hangs on it', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'x' }] };
    const task = {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_FAILED' as const, message, timestamp: '2026-01-01T00:00:00.000Z' },
      artifacts: [{ artifactId: 'a', name: 'n', parts: [{ text: 'y' }] }],
      history: [message],
      metadata: { k: 1 },
    };
    const said = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'x' }] };
    expect(writeV03Task(task)).toEqual({
      kind: 'task',
      id: 't',
      contextId: 'c',
      status: { state: 'failed', message: said, timestamp: '2026-01-01T00:00:00.000Z' },
      artifacts: [{ artifactId: 'a', name: 'n', parts: [{ kind: 'text', text: 'y' }] }],
      history: [said],
      metadata: { k: 1 },
    });
  });

  it.each([
    [{ blocking: true }, false, false],
    [{ blocking: false }, true, true],
    [{}, false, true],
  ])('configuration %j asks for an answer at once: %p in JSON-RPC, %p in REST', (configuration, rpc, rest) => {
    expect(readV03SendParams({ configuration })).toEqual({ configuration: { returnImmediately: rpc } });
    expect(readV03RestSend({ configuration })).toEqual({ configuration: { returnImmediately: rest } });
  });

  it('hands nonsense on for the schema to refuse', () => {
    for (const nonsense of [null, 5, 'x', []] as JsonValue[]) {
      expect(readV03SendParams(nonsense)).toBe(nonsense);
      expect(readV03SendParams({ message: nonsense, configuration: nonsense })).toEqual({
        message: nonsense,
        configuration: nonsense,
      });
    }
    expect(readV03SendParams({ message: { role: 'robot', parts: [5, { kind: 'video' }] } })).toEqual({
      message: { role: 'robot', parts: [5, {}] },
    });
  });

  it('nests push notification configs', () => {
    const config = { taskId: 't', id: 'c', url: 'http://a', token: 's', authentication: { scheme: 'Bearer' } };
    const inner = { id: 'c', url: 'http://a', token: 's', authentication: { schemes: ['Bearer'] } };
    expect(writeV03PushConfig(config)).toEqual({ taskId: 't', pushNotificationConfig: inner });
    expect(readV03PushConfig({ taskId: 't', pushNotificationConfig: inner })).toEqual(config);
    expect(readV03PushParams({ id: 't', pushNotificationConfigId: 'c' })).toEqual({ taskId: 't', id: 'c' });
    expect(readV03OnePushParams({ id: 't', pushNotificationConfigId: 'c' })).toEqual({ taskId: 't', id: 'c' });
    expect(readV03OnePushParams({ id: 't' })).toEqual({ taskId: 't', id: 't' });
    const resource = { name: 'tasks/t/pushNotificationConfigs/c', pushNotificationConfig: inner };
    expect(writeV03RestPushConfig(config)).toEqual(resource);
    expect(readV03RestPushConfig({ ...resource, taskId: 't' })).toEqual(config);
    expect(readV03RestPushConfig({ config: resource, taskId: 't' })).toEqual(config);
    expect(readV03RestPushConfig({ ...resource, configId: 'c', taskId: 't' })).toEqual(config);
    const { id: _, ...unnamed } = inner;
    expect(readV03RestPushConfig({ pushNotificationConfig: unnamed, configId: 'c', taskId: 't' })).toEqual(config);
    expect(readV03RestPushConfig({ config: { pushNotificationConfig: unnamed }, config_id: 'c', taskId: 't' })).toEqual(
      config,
    );
    expect(() => readV03RestPushConfig({ ...resource, configId: 'd', taskId: 't' })).toThrow(
      'configId: differs from the id of the config',
    );
  });

  it.each<[JsonObject]>([[{}], [{ schemes: [] }], [{ schemes: [], credentials: '' }]])(
    'an authentication of %j is none',
    (authentication) => {
      const inner = { url: 'http://a', authentication };
      expect(readV03PushConfig({ taskId: 't', pushNotificationConfig: inner })).toEqual({
        taskId: 't',
        url: 'http://a',
      });
      expect(readV03RestPushConfig({ pushNotificationConfig: inner })).toEqual({ url: 'http://a' });
      const read = readV03SendParams({ configuration: { pushNotificationConfig: inner } });
      expect(read).toMatchObject({ configuration: { taskPushNotificationConfig: { url: 'http://a' } } });
      expect(read).not.toHaveProperty('configuration.taskPushNotificationConfig.authentication');
    },
  );

  it('reads members under the names of its schema too', () => {
    const config = { id: 'c', url: 'http://a' };
    expect(
      readV03SendParams({
        message: {
          message_id: 'm',
          context_id: 'k',
          task_id: 't',
          reference_task_ids: ['r'],
          role: 'user',
          parts: [{ kind: 'file', file: { uri: 'http://a', mime_type: 'image/png' } }],
          metadata: { task_id: 'mine' },
        },
        configuration: {
          accepted_output_modes: ['text/plain'],
          history_length: 1,
          blocking: true,
          push_notification_config: config,
        },
      }),
    ).toEqual({
      message: {
        messageId: 'm',
        contextId: 'k',
        taskId: 't',
        referenceTaskIds: ['r'],
        role: 'ROLE_USER',
        parts: [{ url: 'http://a', mediaType: 'image/png' }],
        metadata: { task_id: 'mine' },
      },
      configuration: {
        acceptedOutputModes: ['text/plain'],
        historyLength: 1,
        returnImmediately: false,
        taskPushNotificationConfig: config,
      },
    });
    expect(readV03PushConfig({ task_id: 't', push_notification_config: config })).toEqual({ taskId: 't', ...config });
    expect(readV03PushParams({ id: 't', push_notification_config_id: 'c' })).toEqual({ taskId: 't', id: 'c' });
  });

  it('reads them in REST, where the Message is a request and its Parts are its content', () => {
    const config = { id: 'c', url: 'http://a' };
    const file = { file_with_bytes: 'aGk=', mime_type: 'image/png' };
    expect(
      readV03RestSend({
        request: { message_id: 'm', context_id: 'k', task_id: 't', role: 'ROLE_USER', content: [{ file }] },
        configuration: { history_length: 1, blocking: true, push_notification: config },
      }),
    ).toEqual({
      message: {
        messageId: 'm',
        contextId: 'k',
        taskId: 't',
        role: 'ROLE_USER',
        parts: [{ raw: 'aGk=', mediaType: 'image/png' }],
      },
      configuration: { historyLength: 1, returnImmediately: false, taskPushNotificationConfig: config },
    });
    expect(readV03RestPushConfig({ config: { push_notification_config: config }, taskId: 't' })).toEqual({
      ...config,
      taskId: 't',
    });
    expect(() => readV03RestSend({ request: { message_id: 'a' }, message: { message_id: 'b' } })).toThrow(
      'message: is also given as request',
    );
  });
});
