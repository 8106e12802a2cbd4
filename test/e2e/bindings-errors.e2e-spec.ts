import { status as grpcStatus } from '@grpc/grpc-js';
import { A2A_ERRORS, type A2AErrorReason, type JsonObject, type Part } from '#libs/protocol';
import { sendParams } from '../support/a2a.js';
import { type WireBinding, WireFailure } from '../support/wire-binding.js';
import { DEMANDED, useBindings } from '../support/bindings-stage.js';
import { linear, output, unique } from '../support/workflow.js';

const suite = useBindings();

/** How a binding tells an error, by the table of section 5.4. */
function codeOf({ name }: WireBinding, reason: A2AErrorReason): number {
  const { code, status, grpc } = A2A_ERRORS[reason];
  return { JSONRPC: code, 'HTTP+JSON': status, GRPC: grpcStatus[grpc as keyof typeof grpcStatus] }[name];
}

describe.each(suite.table)('errors of A2A 1.0 over %s', (_name, binding) => {
  const refusal = (reason: A2AErrorReason, fields: string[] = []) => ({
    code: codeOf(binding, reason),
    message: expect.stringMatching(/./),
    reason,
    domain: 'a2a-protocol.org',
    fields,
  });

  it.each(['GetTask', 'CancelTask'])('%s of an unknown Task is TaskNotFound', async (operation) => {
    const { error } = await binding.call(suite.at('echo'), operation, { id: 'nope' });
    expect(error).toEqual(refusal('TASK_NOT_FOUND'));
  });

  it('a Task of another agent is TaskNotFound, and is found at the service', async () => {
    const { id } = await suite.send(binding, 'echo', 'x');
    expect((await binding.call(suite.at('short'), 'GetTask', { id })).error).toEqual(refusal('TASK_NOT_FOUND'));
    expect((await binding.call('', 'GetTask', { id })).result).toMatchObject({ id });
  });

  it('a Message to an unknown Task is TaskNotFound', async () => {
    const params = sendParams('x', { fields: { taskId: 'nope' } });
    expect((await binding.call(suite.at('echo'), 'SendMessage', params)).error).toEqual(refusal('TASK_NOT_FOUND'));
    await expect(binding.open(suite.at('echo'), 'SendStreamingMessage', params)).rejects.toMatchObject({
      error: refusal('TASK_NOT_FOUND'),
    });
  });

  it('an agent that does not exist is not found, and says which', async () => {
    const { error } = await binding.call('workflows/nope', 'GetTask', { id: 'x' });
    expect(error).toMatchObject({ code: codeOf(binding, 'TASK_NOT_FOUND'), reason: 'AGENT_NOT_FOUND' });
  });

  it('canceling an ended Task is TaskNotCancelable', async () => {
    const { id } = await suite.send(binding, 'echo', 'x');
    const { error } = await binding.call(suite.at('echo'), 'CancelTask', { id });
    expect(error).toEqual(refusal('TASK_NOT_CANCELABLE'));
  });

  it('an ended Task takes no Message and no subscription', async () => {
    const { id } = await suite.send(binding, 'fails', 'x');
    const params = sendParams('x', { fields: { taskId: id } });
    expect((await binding.call(suite.at('fails'), 'SendMessage', params)).error).toEqual(
      refusal('UNSUPPORTED_OPERATION'),
    );
    await expect(binding.open(suite.at('fails'), 'SubscribeToTask', { id })).rejects.toMatchObject({
      error: refusal('UNSUPPORTED_OPERATION'),
    });
  });

  it.each<[string, JsonObject]>([
    ['CreateTaskPushNotificationConfig', { taskId: 't', url: 'https://example.com/hook' }],
    ['GetTaskPushNotificationConfig', { taskId: 't', id: 'c' }],
    ['ListTaskPushNotificationConfigs', { taskId: 't' }],
    ['DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' }],
  ])('%s is PushNotificationNotSupported while the card says so', async (operation, params) => {
    const card = (await (
      await fetch(`${suite.endpoints.url}/a2a/${suite.at('echo')}/.well-known/agent-card.json`)
    ).json()) as {
      capabilities: { pushNotifications?: boolean };
    };
    const supported = card.capabilities.pushNotifications === true;
    const { error } = await binding.call(suite.at('echo'), operation, params);
    expect(error).toEqual(refusal(supported ? 'TASK_NOT_FOUND' : 'PUSH_NOTIFICATION_NOT_SUPPORTED'));
  });

  it('GetExtendedAgentCard is UnsupportedOperation', async () => {
    const { error } = await binding.call(suite.at('echo'), 'GetExtendedAgentCard', {});
    expect(error).toEqual(refusal('UNSUPPORTED_OPERATION'));
  });

  it.each<[string, JsonObject, string[]]>([
    ['no message', {}, ['message']],
    ['no role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }, ['message.role']],
    ['no parts', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }, ['message.parts']],
    [
      'an empty Part and no messageId',
      { message: { role: 'ROLE_USER', parts: [{ mediaType: 'text/plain' }] } },
      ['message.messageId', 'message.parts[0]'],
    ],
    [
      'a historyLength below zero',
      { ...sendParams('x'), configuration: { historyLength: -1 } },
      ['configuration.historyLength'],
    ],
  ])('SendMessage with %s names the fields, and nothing is stored', async (_what, params, fields) => {
    const before = await suite.stage.database.counts();
    const { error } = await binding.call(suite.at('echo'), 'SendMessage', params);
    // The official SDK's encoder makes an empty list of what is absent.
    const blamed = error?.fields.filter((it) => fields.includes(it) || it !== 'message.parts');
    expect({ ...error, fields: blamed }).toEqual(refusal('INVALID_PARAMS', fields));
    expect(await suite.stage.database.counts()).toEqual(before);
  });

  it('ListTasks with a bad page size or token names it', async () => {
    const size = await binding.call(suite.at('echo'), 'ListTasks', { pageSize: 101 });
    expect(size.error).toEqual(refusal('INVALID_PARAMS', ['pageSize']));
    const token = await binding.call(suite.at('echo'), 'ListTasks', { pageToken: 'nonsense' });
    expect(token.error).toEqual(refusal('INVALID_PARAMS', ['pageToken']));
  });

  it('a contextId that is not the Task’s is refused', async () => {
    const asked = await suite.send(binding, 'asks', 'hi');
    const params = sendParams('x', { fields: { taskId: asked.id, contextId: 'another' } });
    const { error } = await binding.call(suite.at('asks'), 'SendMessage', params);
    expect(error).toEqual(refusal('INVALID_PARAMS', ['message.contextId']));
  });

  it('output modes that the agent does not have are ContentTypeNotSupported', async () => {
    const params = sendParams('x', { configuration: { acceptedOutputModes: ['video/mp4'] } });
    const { error } = await binding.call(suite.at('echo'), 'SendMessage', params);
    expect(error).toEqual(refusal('CONTENT_TYPE_NOT_SUPPORTED', ['configuration.acceptedOutputModes']));
  });

  it('a Part that the agent does not read is ContentTypeNotSupported, also where it does not say what it is', async () => {
    const sent = (node: string, part: Part) => binding.call(suite.at(node), 'SendMessage', sendParams([part]));
    const refused = refusal('CONTENT_TYPE_NOT_SUPPORTED', ['message.parts[0].mediaType']);
    for (const part of [{ raw: 'aGk=' }, { url: 'https://example.com/a' }, { raw: 'aGk=', mediaType: 'image/png' }]) {
      for (const node of ['echo', 'parts']) expect((await sent(node, part)).error).toEqual(refused);
    }
    const picture = { raw: 'aGk=', mediaType: 'image/png' };
    const { result } = await sent('pictures', picture);
    expect(result).toMatchObject({ task: { artifacts: [{ parts: [picture] }] } });
    for (const part of [{ text: 'a' }, { data: {} }, { raw: 'aGk=' }]) {
      expect((await sent('pictures', part)).error).toEqual(refused);
    }
  });

  it('an agent that does not stream says so, and answers all the same', async () => {
    const { id } = await suite.send(binding, 'modest', 'x');
    for (const [operation, params] of [
      ['SendStreamingMessage', sendParams('x')],
      ['SubscribeToTask', { id }],
    ] as const) {
      await expect(binding.open(suite.at('modest'), operation, params)).rejects.toMatchObject({
        error: refusal('UNSUPPORTED_OPERATION'),
      });
    }
  });

  it('an agent that sends no push notifications says so', async () => {
    const { id } = await suite.send(binding, 'modest', 'x');
    const config = { url: 'http://127.0.0.1:9/', id: 'c' };
    const refused = refusal('PUSH_NOTIFICATION_NOT_SUPPORTED');
    const create = { taskId: id, ...config };
    expect((await binding.call(suite.at('modest'), 'CreateTaskPushNotificationConfig', create)).error).toEqual(refused);
    const params = sendParams('x', { configuration: { taskPushNotificationConfig: config } });
    expect((await binding.call(suite.at('modest'), 'SendMessage', params)).error).toEqual(refused);
  });

  it('an extension that the agent requires is to be named', async () => {
    const at = suite.at('demanding');
    expect((await binding.call(at, 'SendMessage', sendParams('x'))).error).toEqual(
      refusal('EXTENSION_SUPPORT_REQUIRED'),
    );
    const { result, extensions } = await binding.call(at, 'SendMessage', sendParams('x'), {
      'a2a-extensions': DEMANDED,
    });
    expect([result, extensions]).toMatchObject([{ task: { status: { state: 'TASK_STATE_COMPLETED' } } }, DEMANDED]);
  });

  it('an agent may answer with an error of its own, and there is no Task then', async () => {
    const { error } = await binding.call(suite.at('throws'), 'SendMessage', sendParams('it'));
    expect(error).toEqual({ ...refusal('INVALID_AGENT_RESPONSE'), message: 'no sense in it' });
    const { result } = await binding.call(suite.at('throws'), 'ListTasks', {});
    expect((result as { tasks?: unknown[] }).tasks ?? []).toEqual([]);
  });

  it('a Message without a tenant that reaches the service is told so', async () => {
    await suite.stage.api.save(linear(unique('another'), output('out')));
    const { error } = await binding.call('', 'SendMessage', sendParams('x'));
    expect(error).toMatchObject({
      ...refusal('INVALID_PARAMS', ['message.metadata.skillId']),
      message: expect.stringMatching(/has no tenant that does: it reached the service itself/),
    });
  });

  it.each(['', '0.3', '0.5', '1.1', '2.0', 'latest'])(
    'version %p of an operation of 1.0 is refused',
    async (version) => {
      const headers = { 'a2a-version': version };
      const { error } = await binding.call(suite.at('echo'), 'SendMessage', sendParams('x'), headers);
      expect(error).toEqual(refusal('VERSION_NOT_SUPPORTED'));
      await expect(
        binding.open(suite.at('echo'), 'SendStreamingMessage', sendParams('x'), headers),
      ).rejects.toBeInstanceOf(WireFailure);
    },
  );

  it('an Idempotency-Key that is none is refused', async () => {
    const { error } = await binding.call(suite.at('echo'), 'SendMessage', sendParams('x'), {
      'idempotency-key': 'x'.repeat(256),
    });
    expect(error).toMatchObject({ code: codeOf(binding, 'INVALID_PARAMS'), reason: 'INVALID_PARAMS' });
  });
});
