import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

const STATES: Readonly<Record<string, string>> = {
  created: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
};

/**
 * A `fetch` for agents without a card. They may be older than A2A 1.0 (row K3): they are asked to block in the words
 * they know (row B6), and an answer in their shape is put into that of 1.0. Answers in the shape of 1.0 pass unchanged.
 */
export function foundingFetch(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const request = JSON.parse(init?.body as string) as JsonObject;
    if (isJsonObject(request.params) && isJsonObject(request.params.configuration)) {
      request.params.configuration.blocking = true;
    }
    const response = await send(input, { ...init, body: JSON.stringify(request) });
    const answer: unknown = await response.json();
    if (!isJsonObject(answer) || !isJsonObject(answer.result)) return Response.json(answer);
    const upgrade = request.method === 'SendMessage' ? upgradedSendResult : upgradedTask;
    return Response.json({ ...answer, result: upgrade(answer.result) });
  };
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
