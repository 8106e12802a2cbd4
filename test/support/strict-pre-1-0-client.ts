import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

type Json = Record<string, unknown>;

/** Part of the pre-1.0 dialect. */
export type StrictPart =
  | { type: 'text'; text: string; mimeType: 'text/plain' }
  | { type: 'data'; data: unknown; mimeType: string };

/** Task in the answer to `a2a.sendMessage`. */
export interface StrictTask {
  id: string;
  contextId?: string;
  status: string;
  messages?: { role: string; parts: StrictPart[] }[];
  artifacts?: { name?: string; parts: StrictPart[]; index: number }[];
}

/** Task in the answer to `POST /send-message`. */
export interface StrictDialogueTask {
  id: string;
  contextId: string;
  status: { state: string; message?: { role: string; parts: Json[] } };
  history: { role: string; parts: Json[] }[];
}

const STATUSES = ['created', 'working', 'input-required', 'completed', 'failed', 'canceled'];
const STATES = ['submitted', 'working', 'input-required', 'completed', 'failed', 'canceled', 'rejected'];

export const textPart = (text: string): StrictPart => ({ type: 'text', text, mimeType: 'text/plain' });

/**
 * Client from before A2A 1.0, written only from the descriptions of its dialects. It sends exactly what they define,
 * without a header of A2A, and throws if an answer has an unknown member or lacks a required one. A card may have
 * additional members, which readers of cards ignore.
 */
export class StrictPre10Client {
  private requests = 0;
  private said = 0;
  /** Ids of the dialogue, which `say` keeps from one turn to the next. */
  ids: { contextId?: string; taskId?: string } = {};

  /** @param url URL of the agent, without `/agent-card` and `/send-message` */
  constructor(private readonly url: string) {}

  /** Reads the card at `{url}/agent-card`. */
  async card(): Promise<Json & { url: string; skills: Json[] }> {
    const { status, body } = await exchange('GET', `${this.url}/agent-card`);
    if (status !== 200) throw new Error(`The card: HTTP ${status}`);
    const card = JSON.parse(body) as Json & { url: string; skills: Json[] };
    for (const name of ['name', 'description', 'url']) requireText(card, name);
    for (const name of ['skills', 'defaultInputModes', 'defaultOutputModes']) requireList(card, name);
    const { streaming, pushNotifications } = card['capabilities'] as Json;
    if (typeof streaming !== 'boolean' || typeof pushNotifications !== 'boolean') throw unexpected(card);
    for (const skill of card.skills) {
      for (const name of ['id', 'name', 'description']) requireText(skill, name);
      for (const name of ['inputModes', 'outputModes']) requireList(skill, name);
    }
    return card;
  }

  /**
   * Sends a Message with `a2a.sendMessage` to the URL that the card names, and waits for the end of the turn.
   * @param taskId of the Task whose question the Message answers
   * @throws `a2a error <code>: <message>`
   */
  async send(parts: StrictPart[], taskId?: string): Promise<StrictTask> {
    const message = { role: 'user', parts, ...(taskId !== undefined && { taskId }) };
    const configuration = { acceptedOutputModes: ['text/plain', 'application/json'], blocking: true };
    const task = await this.call((await this.card()).url, 'a2a.sendMessage', { message, configuration });
    requireMembers(task, ['id', 'status'], ['contextId', 'messages', 'artifacts']);
    requireText(task, 'id');
    if (!STATUSES.includes(String(task['status']))) throw unexpected(task);
    for (const said of listOf(task['messages'])) {
      requireMembers(said, ['role', 'parts']);
      requireSaid(said, requirePart);
    }
    for (const [index, artifact] of listOf(task['artifacts']).entries()) {
      requireMembers(artifact, ['parts', 'index'], ['name', 'description', 'metadata']);
      if (artifact['index'] !== index) throw unexpected(artifact);
      for (const part of listOf(artifact['parts'])) requirePart(part);
    }
    return task as unknown as StrictTask;
  }

  /**
   * Sends the next text of a dialogue with `POST {url}/send-message`. It sends the ids of the previous turn, and
   * forgets them once the Task has completed.
   */
  async say(text: string): Promise<StrictDialogueTask> {
    this.said += 1;
    const message = { role: 'user', parts: [{ kind: 'text', text }], messageId: `msg-${this.said}` };
    const { status, body } = await exchange('POST', `${this.url}/send-message`, { message, ...this.ids });
    if (status !== 200) throw new Error(`HTTP ${status}: ${body}`);
    const { taskId, ...answer } = JSON.parse(body) as Json;
    const task = requireDialogueTask(answer);
    if (taskId !== task.id) throw unexpected(taskId);
    this.ids = task.status.state === 'completed' ? {} : { contextId: task.contextId, taskId };
    return task;
  }

  /** Reads a Task with `tasks/get`. @throws `a2a error <code>: <message>` */
  async get(id: string): Promise<StrictDialogueTask> {
    return requireDialogueTask(await this.call(this.url, 'tasks/get', { id }));
  }

  /** Cancels a Task with `tasks/cancel`. @throws `a2a error <code>: <message>` */
  async cancel(id: string): Promise<StrictDialogueTask> {
    return requireDialogueTask(await this.call(this.url, 'tasks/cancel', { id }));
  }

  /** Calls a method of JSON-RPC. @throws `a2a error <code>: <message>` */
  async call(url: string, method: string, params: Json): Promise<Json> {
    this.requests += 1;
    const { status, body } = await exchange('POST', url, { jsonrpc: '2.0', id: this.requests, method, params });
    if (status !== 200) throw new Error(`HTTP ${status}: ${body}`);
    const response = JSON.parse(body) as Json;
    if (response['jsonrpc'] !== '2.0' || response['id'] !== this.requests) throw unexpected(response);
    if ('error' in response) {
      requireMembers(response, ['jsonrpc', 'id', 'error']);
      const { code, message } = response['error'] as Json;
      throw new Error(`a2a error ${String(code)}: ${String(message)}`);
    }
    requireMembers(response, ['jsonrpc', 'id', 'result']);
    return response['result'] as Json;
  }
}

async function exchange(method: string, url: string, body?: Json): Promise<{ status: number; body: string }> {
  const sent = request(url, { method, headers: body ? { 'content-type': 'application/json' } : {} });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  const { statusCode = 0, headers } = response;
  const type = headers['content-type'] ?? '';
  const isJson = /^application\/json(; *charset=utf-8)?$/i.test(type);
  if (statusCode === 200 && !isJson) throw new Error(`The answer is ${type}: ${text}`);
  return { status: statusCode, body: text };
}

function requireDialogueTask(task: Json): StrictDialogueTask {
  requireMembers(task, ['kind', 'id', 'contextId', 'status', 'history'], ['artifacts', 'metadata']);
  const { kind, status, history } = task;
  requireText(task, 'id');
  requireText(task, 'contextId');
  if (kind !== 'task') throw unexpected(task);
  requireMembers(status as Json, ['state'], ['message', 'timestamp']);
  const { state, message } = status as Json;
  if (!STATES.includes(String(state))) throw unexpected(status);
  for (const said of [...listOf(history), ...(message === undefined ? [] : [message as Json])]) {
    requireMembers(said, ['kind', 'role', 'parts', 'messageId'], ['taskId', 'contextId', 'metadata']);
    requireSaid(said, requireDialoguePart);
  }
  for (const artifact of listOf(task['artifacts'])) {
    requireMembers(artifact, ['artifactId', 'parts'], ['name', 'description', 'metadata']);
    for (const part of listOf(artifact['parts'])) requireDialoguePart(part);
  }
  return task as unknown as StrictDialogueTask;
}

function requireSaid({ role, parts }: Json, check: (part: Json) => void): void {
  if (role !== 'user' && role !== 'agent') throw unexpected(role);
  if (!Array.isArray(parts)) throw unexpected(parts);
  for (const part of parts) check(part as Json);
}

function requirePart(part: Json): void {
  const { type, mimeType } = part;
  if (type !== 'text' && type !== 'data') throw unexpected(part);
  requireMembers(part, ['type', type, 'mimeType']);
  if (typeof mimeType !== 'string' || (type === 'text' && typeof part['text'] !== 'string')) throw unexpected(part);
}

function requireDialoguePart(part: Json): void {
  const { kind } = part;
  if (kind !== 'text' && kind !== 'data' && kind !== 'file') throw unexpected(part);
  requireMembers(part, ['kind', kind], ['metadata']);
}

/** Asserts that an object has all required members, and no others than these and the optional ones. */
function requireMembers(value: Json, required: string[], optional: string[] = []): void {
  const names = Object.keys(value);
  const isKnown = (name: string): boolean => required.includes(name) || optional.includes(name);
  if (!required.every((name) => names.includes(name)) || !names.every(isKnown)) throw unexpected(value);
}

function requireText(value: Json, name: string): void {
  if (typeof value[name] !== 'string' || value[name] === '') throw new Error(`No ${name} in ${JSON.stringify(value)}`);
}

function requireList(value: Json, name: string): void {
  const list = value[name];
  if (!Array.isArray(list) || list.length === 0) throw new Error(`No ${name} in ${JSON.stringify(value)}`);
}

function listOf(value: unknown): Json[] {
  if (value !== undefined && !Array.isArray(value)) throw unexpected(value);
  return (value ?? []) as Json[];
}

function unexpected(value: unknown): Error {
  return new Error(`Not as the dialect has it: ${JSON.stringify(value)}`);
}
