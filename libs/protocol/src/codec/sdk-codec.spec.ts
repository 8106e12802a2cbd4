import * as sdk from '@a2a-js/sdk';
import fc from 'fast-check';
import { webUrls } from '../../../../test/support/web-urls.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import { type StreamResponse, TASK_STATES } from '../task.js';
import { InvalidProtocolValue } from './proto-json.js';
import {
  decodeAgentCard,
  decodeStreamResponse,
  decodeTask,
  encodeAgentCard,
  encodeSendMessageRequest,
  encodeSendMessageResponse,
  encodeStreamResponse,
  encodeTask,
} from './sdk-codec.js';

const text = fc.string({ minLength: 1, maxLength: 12 });
const json = fc.jsonValue({ maxDepth: 2 }).map((it) => JSON.parse(JSON.stringify(it)) as JsonValue);
const metadata = fc.dictionary(
  text.filter((key) => key !== '__proto__'),
  json,
) as fc.Arbitrary<JsonObject>;
const content = fc.oneof(
  fc.string().map((it): Part => ({ text: it })),
  fc.uint8Array({ minLength: 1 }).map((it): Part => ({ raw: Buffer.from(it).toString('base64') })),
  webUrls().map((it): Part => ({ url: it })),
  json.map((it): Part => ({ data: it })),
);
const part = fc
  .tuple(content, fc.record({ mediaType: text, filename: text, metadata }, { requiredKeys: [] }))
  .map(([one, fields]): Part => ({ ...one, ...fields }));
const message = fc.record(
  {
    messageId: text,
    contextId: text,
    taskId: text,
    role: fc.constantFrom('ROLE_USER', 'ROLE_AGENT'),
    parts: fc.array(part, { maxLength: 3 }),
    metadata,
    referenceTaskIds: fc.array(text, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['messageId', 'role', 'parts'] },
) as fc.Arbitrary<Message>;
const status = fc.record(
  { state: fc.constantFrom(...TASK_STATES), message, timestamp: text },
  { requiredKeys: ['state'] },
);
const artifact = fc.record(
  { artifactId: text, name: text, parts: fc.array(part, { maxLength: 3 }) },
  { requiredKeys: ['artifactId', 'parts'] },
);
const task = fc.record(
  {
    id: text,
    contextId: text,
    status,
    artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
    history: fc.array(message, { minLength: 1, maxLength: 2 }),
    metadata,
  },
  { requiredKeys: ['id', 'contextId', 'status'] },
);
const reference = { taskId: text, contextId: text };
const response = fc.oneof(
  task.map((it) => ({ task: it })),
  message.map((it) => ({ message: it })),
  fc
    .record({ ...reference, status, metadata }, { requiredKeys: ['taskId', 'contextId', 'status'] })
    .map((it) => ({ statusUpdate: it })),
  fc
    .record(
      { ...reference, artifact, append: fc.constant(true), lastChunk: fc.constant(true) },
      { requiredKeys: ['taskId', 'contextId', 'artifact'] },
    )
    .map((it) => ({ artifactUpdate: it })),
) as fc.Arbitrary<StreamResponse>;

describe('the codec of the SDK', () => {
  it('gives every event back without a loss', () => {
    fc.assert(fc.property(response, (it) => expect(decodeStreamResponse(sdk.StreamResponse.fromJSON(it))).toEqual(it)));
  });

  it('sends every Message without a loss', () => {
    fc.assert(
      fc.property(message, (it) =>
        expect(sdk.SendMessageRequest.toJSON(encodeSendMessageRequest({ message: it }))).toEqual({
          message: leftOut(it),
        }),
      ),
    );
  });

  it.each([
    [{}, 'none of task, message, statusUpdate and artifactUpdate is present'],
    [{ task: {} }, 'task.id is missing'],
    [{ task: { id: 't' } }, 'status is missing'],
    [{ statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } }, 'taskId is missing'],
    [{ artifactUpdate: { taskId: 't' } }, 'artifactUpdate.artifact is missing'],
  ])('refuses %j', (it, problem) => {
    const decode = () => decodeStreamResponse(sdk.StreamResponse.fromJSON(it));
    expect(decode).toThrow(InvalidProtocolValue);
    expect(decode).toThrow(problem);
  });

  it('reads a Task on its own', () => {
    fc.assert(fc.property(task, (it) => expect(decodeTask(sdk.Task.fromJSON(it))).toEqual(it)));
  });

  it('writes every event and Task without a loss', () => {
    fc.assert(fc.property(response, (it) => expect(decodeStreamResponse(encodeStreamResponse(it))).toEqual(it)));
    fc.assert(fc.property(task, (it) => expect(decodeTask(encodeTask(it))).toEqual(it)));
  });

  it('writes null as a content, wherever a Part may be', () => {
    const parts: Part[] = [{ data: null }];
    const said: Message = { messageId: 'm', role: 'ROLE_AGENT', parts };
    const whole = {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING' as const, message: said },
      artifacts: [{ artifactId: 'a', parts }],
      history: [said],
    };
    const ids = { taskId: 't', contextId: 'c' };
    expect(sdk.SendMessageResponse.toJSON(encodeSendMessageResponse({ task: whole }))).toEqual({ task: whole });
    for (const it of [
      { message: said },
      { statusUpdate: { ...ids, status: whole.status } },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts } } },
    ]) {
      expect(sdk.StreamResponse.toJSON(encodeStreamResponse(it))).toEqual(it);
    }
  });

  it('gives a card with every required member', () => {
    const card = decodeAgentCard(encodeAgentCard({ name: 'bare' } as Parameters<typeof encodeAgentCard>[0]));
    expect(card).toEqual({
      name: 'bare',
      description: '',
      version: '',
      supportedInterfaces: [],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
  });
});

/** Returns a Message without its `parts` if they are empty, as ProtoJSON omits empty lists. */
function leftOut({ parts, ...rest }: Message): unknown {
  return parts.length === 0 ? rest : { ...rest, parts };
}
