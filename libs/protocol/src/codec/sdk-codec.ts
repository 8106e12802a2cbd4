import * as sdk from '@a2a-js/sdk';
import type { AgentCard } from '../agent-card.js';
import type { JsonObject } from '../json.js';
import type { SendMessageRequest } from '../requests.js';
import type { StreamResponse, Task } from '../task.js';
import { readStreamResponse, readTask } from './proto-json.js';

/** The official SDK's form of a request. */
export function encodeSendMessageRequest(request: SendMessageRequest): sdk.SendMessageRequest {
  const encoded = sdk.SendMessageRequest.fromJSON(request);
  request.message.parts.forEach((part, index) => {
    const target = encoded.message?.parts[index];
    if (part.data === null && target) target.content = { $case: 'data', value: null };
  });
  return encoded;
}

/** The official SDK's form of a card, from ProtoJSON. */
export function encodeAgentCard(card: AgentCard): sdk.AgentCard {
  return sdk.AgentCard.fromJSON(card);
}

/** A card as ProtoJSON, with the members that A2A 1.0 requires present even where the agent left them out. */
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

/** @throws InvalidProtocolValue */
export function decodeStreamResponse(response: sdk.StreamResponse): StreamResponse {
  return readStreamResponse(sdk.StreamResponse.toJSON(response));
}

/** @throws InvalidProtocolValue */
export function decodeTask(value: sdk.Task): Task {
  return readTask(sdk.Task.toJSON(value));
}
