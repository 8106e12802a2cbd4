import * as sdk from '@a2a-js/sdk';
import type { AgentCard } from '../agent-card.js';
import type { JsonObject } from '../json.js';
import type { Part } from '../message.js';
import type { SendMessageRequest } from '../requests.js';
import type { SendMessageResponse, StreamResponse, Task } from '../task.js';
import { readStreamResponse, readTask } from './proto-json.js';

/** Encodes a request in the official SDK's form. */
export function encodeSendMessageRequest(request: SendMessageRequest): sdk.SendMessageRequest {
  const encoded = sdk.SendMessageRequest.fromJSON(request);
  keepNulls(request.message.parts, encoded.message?.parts);
  return encoded;
}

/** Encodes a Task in the official SDK's form. */
export function encodeTask(task: Task): sdk.Task {
  const encoded = sdk.Task.fromJSON(task);
  keepTaskNulls(task, encoded);
  return encoded;
}

/** Encodes the answer to SendMessage in the official SDK's form. */
export function encodeSendMessageResponse(response: SendMessageResponse): sdk.SendMessageResponse {
  const encoded = sdk.SendMessageResponse.fromJSON(response);
  keepPayloadNulls(response, encoded.payload);
  return encoded;
}

/** Encodes an item of a stream in the official SDK's form. */
export function encodeStreamResponse(response: StreamResponse): sdk.StreamResponse {
  const encoded = sdk.StreamResponse.fromJSON(response);
  keepPayloadNulls(response, encoded.payload);
  return encoded;
}

/** Encodes a card in the official SDK's form. */
export function encodeAgentCard(card: AgentCard): sdk.AgentCard {
  return sdk.AgentCard.fromJSON(card);
}

/** Decodes a card from the official SDK's form. Members that A2A 1.0 requires are always present. */
export function decodeAgentCard(card: sdk.AgentCard): AgentCard {
  const json = sdk.AgentCard.toJSON(card) as JsonObject;
  return {
    name: '',
    description: '',
    version: '',
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...json,
  };
}

/** Decodes an item of a stream from the official SDK's form. @throws InvalidProtocolValue */
export function decodeStreamResponse(response: sdk.StreamResponse): StreamResponse {
  return readStreamResponse(sdk.StreamResponse.toJSON(response));
}

/** Decodes a Task from the official SDK's form. @throws InvalidProtocolValue */
export function decodeTask(value: sdk.Task): Task {
  return readTask(sdk.Task.toJSON(value));
}

type Payload = sdk.StreamResponse['payload'];

function keepPayloadNulls(response: StreamResponse, payload: Payload): void {
  if ('task' in response && payload?.$case === 'task') keepTaskNulls(response.task, payload.value);
  if ('message' in response && payload?.$case === 'message') keepNulls(response.message.parts, payload.value.parts);
  if ('artifactUpdate' in response && payload?.$case === 'artifactUpdate')
    keepNulls(response.artifactUpdate.artifact.parts, payload.value.artifact?.parts);
  if ('statusUpdate' in response && payload?.$case === 'statusUpdate')
    keepNulls(response.statusUpdate.status.message?.parts, payload.value.status?.message?.parts);
}

function keepTaskNulls(task: Task, encoded: sdk.Task): void {
  keepNulls(task.status.message?.parts, encoded.status?.message?.parts);
  task.artifacts?.forEach(({ parts }, index) => keepNulls(parts, encoded.artifacts[index]?.parts));
  task.history?.forEach(({ parts }, index) => keepNulls(parts, encoded.history[index]?.parts));
}

/** Restores `data: null`, which the SDK reads as missing content. */
function keepNulls(parts: readonly Part[] | undefined, encoded: sdk.Part[] | undefined): void {
  parts?.forEach((part, index) => {
    const target = encoded?.[index];
    if (part.data === null && target) target.content = { $case: 'data', value: null };
  });
}
