import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { JsonRpcDialect } from './json-rpc-transport.js';

const STATES: Readonly<Record<string, string>> = {
  created: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
};

/**
 * How agents without a card are spoken to. They may be older than A2A 1.0: they are asked to block in the words
 * they know, and an answer in their shape is put into that of 1.0. Answers in the shape of 1.0 pass unchanged.
 */
export const PRE_1_0_DIALECT: JsonRpcDialect = {
  params: (params) =>
    isJsonObject(params.configuration) ? { ...params, configuration: blocking(params.configuration) } : params,
  result: (method, result) => (method === 'SendMessage' ? upgradedSendResult(result) : upgradedTask(result)),
};

function blocking({ returnImmediately: _immediately, ...configuration }: JsonObject): JsonObject {
  return { ...configuration, blocking: true };
}

function upgradedSendResult(result: JsonObject): JsonObject {
  if ('task' in result || 'message' in result) return result;
  if ('messageId' in result) return { message: result };
  return 'status' in result ? { task: upgradedTask(result) } : result;
}

function upgradedTask({ messages, ...task }: JsonObject): JsonObject {
  return {
    ...task,
    ...(typeof task.status === 'string' && { status: { state: STATES[task.status] ?? task.status } }),
    ...(Array.isArray(messages) && { history: messages.filter(isJsonObject).map(upgradedMessage) }),
    ...(Array.isArray(task.artifacts) && { artifacts: task.artifacts.filter(isJsonObject).map(upgradedArtifact) }),
  };
}

function upgradedMessage(message: JsonObject): JsonObject {
  const role = message.role === 'user' || message.role === 'ROLE_USER' ? 'ROLE_USER' : 'ROLE_AGENT';
  return { ...message, role, parts: upgradedParts(message.parts) };
}

function upgradedArtifact(artifact: JsonObject, position: number): JsonObject {
  return { artifactId: `artifact-${position}`, ...artifact, parts: upgradedParts(artifact.parts) };
}

function upgradedParts(parts: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(parts)) return [];
  return parts.filter(isJsonObject).map(({ type: _type, mimeType, ...part }) => ({
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...part,
  }));
}
