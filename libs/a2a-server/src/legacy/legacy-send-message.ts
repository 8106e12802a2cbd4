import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  invalidParams,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  protoNames,
  readV03SendParams,
  type Task,
  toJsonNames,
  writeV03Task,
} from '#libs/protocol';
import type { AgentBase } from '../http/agent-base.js';
import type { PublicAddress } from '../http/call-context.js';
import { messageIdOf } from '../http/message-id.js';
import { completedByReply } from '../pre-1-0/completed-by-reply.js';
import type { RequestHandler } from '../request-handler.js';
import { parseSendMessage } from '../validation/request-parsers.js';
import { legacyCall, legacyError, setLegacyExtensions } from './legacy-call.js';
import { sendLegacyRestError } from './legacy-rest.js';
import { inLegacyWords, SEND_WORDS } from './legacy-words.js';

const NAMES = protoNames(['contextId', 'taskId'], { message: protoNames(['messageId', 'contextId', 'taskId']) });

/**
 * True if the body of `POST /send-message` has a Message in the format of A2A 0.3: its role is `user` or `agent`, or
 * one of its Parts has `kind` or `type`.
 */
export function hasLegacyMessage(body: unknown): body is JsonObject & { message: JsonObject } {
  if (!isJsonObject(body) || !isJsonObject(body.message)) return false;
  const { role, parts } = body.message;
  return role === 'user' || role === 'agent' || kindOf(parts) !== undefined;
}

/**
 * Handler of `POST /send-message` in the format of A2A 0.3: `{message: {role: "user", parts: [{kind: "text", text}]},
 * contextId?, taskId?}`, also with `type` for `kind`, or without both. It answers with the Task in the format of 0.3,
 * with its id also as `taskId`, once the Task ends or waits.
 */
export class LegacySendMessage {
  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
  ) {}

  /** Answers a request for which `hasLegacyMessage` is true; never rejects. */
  async handleMessage(base: AgentBase, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const task = await this.sendLegacy(base, request, reply);
      const answer = { ...writeV03Task(task), taskId: task.id };
      reply.header('content-type', 'application/json').send(JSON.stringify(answer));
    } catch (error) {
      sendLegacyRestError(reply, inLegacyWords(legacyError(error, false), SEND_WORDS));
    }
  }

  private async sendLegacy(base: AgentBase, request: FastifyRequest, reply: FastifyReply): Promise<Task> {
    const call = legacyCall(base, request, reply, this.address);
    const agent = await this.handler.agentOfTasks(call);
    setLegacyExtensions(call, agent, reply);
    const newId = (metadata: JsonValue | undefined): string => messageIdOf(call, metadata);
    const sent = parseSendMessage(paramsOf(request.body as JsonObject, newId));
    const answer = await this.handler.sendMessage(agent, sent, call);
    return 'task' in answer ? answer.task : repliedTask(sent.message, answer.message);
  }
}

/**
 * Converts a body to the parameters of 1.0. @throws A2AError INVALID_PARAMS if it mixes two versions, or an id has two
 * values
 */
function paramsOf(body: JsonObject, newId: (metadata: JsonValue | undefined) => string): JsonValue {
  toJsonNames(body, NAMES);
  const { contextId, taskId, ...rest } = body;
  const message = body.message as JsonObject;
  requireOneVersion(message);
  const { contextId: contextInside, taskId: taskInside, ...withoutIds } = message;
  const said: JsonObject = {
    messageId: newId(message.metadata),
    role: 'user',
    ...withoutIds,
    ...oneId('contextId', contextInside, contextId),
    ...oneId('taskId', taskInside, taskId),
    ...(Array.isArray(message.parts) && { parts: message.parts.map(withKind) }),
  };
  return readV03SendParams({ ...rest, message: said });
}

function requireOneVersion({ role, parts }: JsonObject): void {
  const word = kindOf(parts);
  if (typeof role !== 'string' || !role.startsWith('ROLE_') || word === undefined) return;
  throw invalidParams({
    field: 'message',
    description: `has the role of A2A 1.0 (message.role) and a Part of 0.3 (message.parts, ${word}): use one of them`,
  });
}

/** Returns the member that names the kind of the first Part that has one. */
function kindOf(parts: JsonValue | undefined): 'kind' | 'type' | undefined {
  if (!Array.isArray(parts)) return undefined;
  for (const part of parts) {
    if (!isJsonObject(part)) continue;
    if (part.kind !== undefined) return 'kind';
    if (part.type !== undefined) return 'type';
  }
  return undefined;
}

/** Returns an id from the Message or beside it. Null counts as absent: that is how clients reset their ids. */
function oneId(name: string, inside: JsonValue = null, beside: JsonValue = null): JsonObject {
  if (inside !== null && beside !== null && inside !== beside)
    throw invalidParams({ field: name, description: `is another one than message.${name}` });
  const id = beside ?? inside;
  return id === null ? {} : { [name]: id };
}

function withKind(part: JsonValue): JsonValue {
  if (!isJsonObject(part) || part.kind !== undefined) return part;
  const { type, ...rest } = part;
  const kind = type ?? ['text', 'data', 'file'].find((name) => rest[name] !== undefined);
  return kind === undefined ? part : { ...rest, kind };
}

/** Converts a direct answer to a Task, which such clients expect; it is not stored. */
function repliedTask(said: Message, reply: Message): Task {
  const task = completedByReply(said, reply, randomUUID());
  return { ...task, status: { ...task.status, message: reply }, history: [said, reply] };
}
