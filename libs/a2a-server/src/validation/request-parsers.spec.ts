import fc from 'fast-check';
import { A2AError, type FieldViolation } from '#libs/protocol';
import { webUrls } from '../../../../test/support/web-urls.js';
import {
  parseCreatePushConfig,
  parseGetTask,
  parseListPushConfigs,
  parseListTasks,
  parseSendMessage,
} from './request-parsers.js';

const text = fc.string({ unit: 'grapheme' });
const id = fc.stringMatching(/^[\w.-]{1,40}$/);
const struct = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
const content = fc.oneof(
  fc.record({ text }),
  fc.record({ raw: fc.base64String() }),
  fc.record({ url: webUrls() }),
  fc.record({ data: fc.jsonValue({ maxDepth: 4 }) }),
);
const optionalPartFields = fc.record(
  { mediaType: fc.constant('text/plain'), filename: text, metadata: struct },
  { requiredKeys: [] },
);
const part = fc.tuple(content, optionalPartFields).map(([one, other]) => ({ ...one, ...other }));
const message = fc.record(
  {
    messageId: id,
    contextId: fc.oneof(id, fc.constant(''), fc.constant(null)),
    taskId: fc.oneof(id, fc.constant('')),
    role: fc.constant('ROLE_USER'),
    parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    metadata: struct,
    extensions: fc.array(webUrls(), { maxLength: 2 }),
    referenceTaskIds: fc.array(id, { maxLength: 2 }),
  },
  { requiredKeys: ['messageId', 'role', 'parts'] },
);
const configuration = fc.record(
  {
    acceptedOutputModes: fc.array(fc.constantFrom('text/plain', '*/*'), { maxLength: 2 }),
    historyLength: fc.nat(1000),
    returnImmediately: fc.boolean(),
  },
  { requiredKeys: [] },
);
const request = fc.record({ tenant: id, message, configuration, metadata: struct }, { requiredKeys: ['message'] });

type Request = { message: Record<string, unknown> & { parts: Record<string, unknown>[] } };

/** Field that the error must name, and the change that makes a valid request invalid. */
const mutations: [string, (request: Request) => void][] = [
  ['message.messageId', ({ message: it }) => delete it.messageId],
  ['message.messageId', ({ message: it }) => (it.messageId = '')],
  ['message.messageId', ({ message: it }) => (it.messageId = 7)],
  ['message.messageId', ({ message: it }) => (it.messageId = 'x'.repeat(257))],
  ['message.role', ({ message: it }) => (it.role = 'ROLE_AGENT')],
  ['message.role', ({ message: it }) => (it.role = 'user')],
  ['message.contextId', ({ message: it }) => (it.contextId = 'a\u0000b')],
  ['message.taskId', ({ message: it }) => (it.taskId = 'a\nb')],
  ['message.parts', ({ message: it }) => (it.parts = [])],
  ['message.parts', ({ message: it }) => ((it as Record<string, unknown>).parts = 'text')],
  ['message.parts[0]', ({ message: it }) => (it.parts[0] = {})],
  ['message.parts[0]', ({ message: it }) => (it.parts[0] = { text: 'a', data: 1 })],
  ['message.parts[0].text', ({ message: it }) => (it.parts[0] = { text: 5 })],
  ['message.parts[0].raw', ({ message: it }) => (it.parts[0] = { raw: '%%%' })],
  ['message.parts[0].metadata', ({ message: it }) => (it.parts[0] = { text: 'a', metadata: [] })],
  ['message.metadata', ({ message: it }) => (it.metadata = 'x')],
  ['message.extensions[0]', ({ message: it }) => (it.extensions = [1])],
  ['message', (it) => ((it as { message: unknown }).message = null)],
];

function violations(parse: (params: unknown) => unknown, params: unknown): readonly FieldViolation[] {
  try {
    parse(params);
  } catch (error) {
    if (error instanceof A2AError && error.reason === 'INVALID_PARAMS') return error.violations;
    throw error;
  }
  return [];
}

describe('SendMessageRequest', () => {
  it('accepts every valid request', () => {
    fc.assert(
      fc.property(request, (valid) => expect(violations(parseSendMessage, structuredClone(valid))).toEqual([])),
    );
  });

  it('names the field that is at fault, once', () => {
    fc.assert(
      fc.property(request, fc.constantFrom(...mutations), (valid, [field, mutate]) => {
        const mutated = structuredClone(valid) as unknown as Request;
        mutate(mutated);
        const found = violations(parseSendMessage, mutated);
        expect(found.map((it) => it.field)).toEqual([field]);
      }),
    );
  });

  it('tells every problem in words', () => {
    const found = violations(parseSendMessage, {
      message: { role: 'agent', parts: [{ text: 1 }, {}] },
      configuration: { historyLength: -1, returnImmediately: 'yes' },
    });
    expect(found).toEqual([
      { field: 'message.messageId', description: 'is required' },
      { field: 'message.role', description: 'must be ROLE_USER' },
      { field: 'message.parts[0].text', description: 'must be a string' },
      { field: 'message.parts[1]', description: 'must have exactly one of text, raw, url, data' },
      { field: 'configuration.historyLength', description: 'must be at least 0' },
      { field: 'configuration.returnImmediately', description: 'must be a boolean: true or false' },
    ]);
  });

  it('reads empty ids and nulls as absent, and data null as data', () => {
    const parsed = parseSendMessage({
      message: {
        messageId: 'm',
        contextId: '',
        taskId: null,
        role: 'ROLE_USER',
        parts: [{ text: '', raw: null }, { data: null }],
      },
      configuration: null,
    });
    expect(parsed.message.contextId).toBeUndefined();
    expect(parsed.message.taskId).toBeUndefined();
    expect(parsed.configuration).toBeUndefined();
    expect(JSON.parse(JSON.stringify(parsed.message.parts))).toEqual([{ text: '' }, { data: null }]);
  });

  it('reads bytes in the URL-safe alphabet, and without padding, and keeps them as ProtoJSON writes them', () => {
    const raws = ['-_-_', '+/+/', 'QQ', 'QQ==', '_w', ''];
    const message = { messageId: 'm', role: 'ROLE_USER', parts: raws.map((raw) => ({ raw })) };
    const parsed = parseSendMessage({ message });
    expect(parsed.message.parts.map(({ raw }) => raw)).toEqual(['+/+/', '+/+/', 'QQ==', 'QQ==', '/w==', '']);
  });

  it('drops unknown fields and keeps what is inside metadata and data', () => {
    const parsed = parseSendMessage({
      later: 1,
      message: { kind: 'message', messageId: 'm', role: 'ROLE_USER', parts: [{ kind: 'data', data: { kind: 1 } }] },
      metadata: { any: { thing: [1] } },
    });
    expect(parsed).toEqual({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { kind: 1 } }] },
      metadata: { any: { thing: [1] } },
    });
  });

  it('refuses what cannot be kept: deep nesting and numbers beyond a double', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    const params = (data: unknown) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] } });
    expect(violations(parseSendMessage, params(deep))[0]?.description).toBe(
      'must not be nested deeper than 100 levels',
    );
    expect(violations(parseSendMessage, params({ a: [1, JSON.parse('1e999')] }))).toEqual([
      { field: 'message.parts[0].data.a[1]', description: 'must be a finite number' },
    ]);
  });

  it('refuses endless lists unread and never lists more than twenty problems', () => {
    const withParts = (count: number) => ({
      message: { messageId: 'm', role: 'ROLE_USER', parts: Array.from({ length: count }, () => 1) },
    });
    expect(violations(parseSendMessage, withParts(1001))).toEqual([
      { field: 'message.parts', description: 'must have at most 1000 entries' },
    ]);
    expect(violations(parseSendMessage, withParts(1000))).toHaveLength(20);
  });

  it.each([undefined, null, [], 'text', 1])('refuses %p as parameters', (params) => {
    expect(violations(parseSendMessage, params)).toEqual([{ field: 'params', description: 'must be an object' }]);
  });
});

describe('the other requests', () => {
  it('checks the filters of ListTasks', () => {
    const found = violations(parseListTasks, {
      pageSize: 150,
      historyLength: 1.5,
      status: 'TASK_STATE_RUNNING',
      statusTimestampAfter: 'yesterday',
      includeArtifacts: 1,
    });
    expect(Object.fromEntries(found.map((it) => [it.field, it.description]))).toEqual({
      pageSize: 'must be between 1 and 100',
      historyLength: 'must be an integer',
      status: expect.stringMatching(/^must be one of TASK_STATE_SUBMITTED, .*, TASK_STATE_AUTH_REQUIRED$/),
      statusTimestampAfter: 'must be an RFC 3339 timestamp such as 2025-11-09T10:30:00Z',
      includeArtifacts: 'must be a boolean: true or false',
    });
    expect(violations(parseListTasks, { pageSize: 0 })[0]?.field).toBe('pageSize');
  });

  it('reads integers that are texts, and enums that are numbers, as ProtoJSON does', () => {
    expect(parseListTasks({ pageSize: '5', historyLength: '3', status: 3 })).toEqual({
      pageSize: 5,
      historyLength: 3,
      status: 'TASK_STATE_COMPLETED',
    });
    expect(parseListTasks({ status: 0 })).toEqual({});
    expect(parseGetTask({ id: 't', historyLength: '0' })).toEqual({ id: 't', historyLength: 0 });
    const request = {
      message: { messageId: 'm', role: 1, parts: [{ text: '7' }] },
      configuration: { historyLength: '2' },
    };
    expect(parseSendMessage(structuredClone(request))).toEqual({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '7' }] },
      configuration: { historyLength: 2 },
    });
  });

  it.each<[string, unknown, string]>([
    ['pageSize', '101', 'must be between 1 and 100'],
    ['pageSize', '5x', 'must be an integer'],
    ['pageSize', '', 'must be an integer'],
    ['historyLength', '99999999999', 'must be an integer'],
    ['historyLength', '9999999999', 'must be at most 2147483647'],
    ['historyLength', '-1', 'must be at least 0'],
    ['status', 9, 'must be a string'],
    ['status', 1.5, 'must be a string'],
    ['contextId', 1, 'must be a string'],
    ['includeArtifacts', 'true', 'must be a boolean: true or false'],
  ])('refuses %s of %j in these spellings as well', (field, value, description) => {
    expect(violations(parseListTasks, { [field]: value, pageToken: 'x' })).toEqual([{ field, description }]);
  });

  it('reads an unspecified status and an empty context as no filter', () => {
    expect(parseListTasks({ status: 'TASK_STATE_UNSPECIFIED', contextId: '' })).toEqual({});
    expect(parseListTasks({ statusTimestampAfter: '2025-01-01T00:00:00.5+02:00' }).statusTimestampAfter).toBeDefined();
    expect(() => parseListTasks({ statusTimestampAfter: '2026-02-30T00:00:00Z' })).toThrow('statusTimestampAfter');
  });

  it('requires ids', () => {
    expect(violations(parseGetTask, {})).toEqual([{ field: 'id', description: 'is required' }]);
    expect(violations(parseGetTask, { id: '' })).toEqual([{ field: 'id', description: 'must not be empty' }]);
    expect(violations(parseCreatePushConfig, {}).map((it) => it.field)).toEqual(['taskId', 'url']);
    expect(violations(parseListPushConfigs, { taskId: 't', pageSize: 0 })).toEqual([]);
  });
});
