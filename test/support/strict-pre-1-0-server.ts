import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

/** Answer to a text: the status of the Task, and the agent's text or data. */
export interface StrictAnswer {
  status: 'created' | 'working' | 'input-required' | 'completed' | 'failed' | 'canceled';
  /** Text of the Artifact of a completed Task, or of the agent's Message. */
  text?: string;
  /** Content of a data Part in the Artifact. */
  data?: unknown;
}

export interface StrictServerOptions {
  /** True if the agent serves a card at `{url}/agent-card`. */
  hasCard: boolean;
  /** Returns the answer to a text; throws a `JsonRpcError` to answer with an error. */
  answer?: (text: string, data: unknown) => StrictAnswer;
}

/** JSON-RPC error with which the server answers. */
export class JsonRpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

interface StrictTask {
  id: string;
  contextId: string;
  status: StrictAnswer['status'];
  messages: Json[];
  artifacts?: Json[];
}

/**
 * Agent from before A2A 1.0, written only from the description of that dialect. It refuses everything that the
 * description does not define: other methods, other members, missing members, and headers of A2A 1.0.
 * - JSON-RPC at its URL has one method, `a2a.sendMessage`, and request ids are 1, 2, 3, …
 * - It does not stream, and a Task cannot be read.
 * - A Message names a Task only to answer a question of that Task.
 */
export class StrictPre10Server {
  /** Message of each accepted request: its text, and its data if it has any. */
  readonly accepted: { text: string; data?: unknown; taskId?: string }[] = [];
  /** Reason of each refused request. */
  readonly refused: string[] = [];
  private readonly tasks = new Map<string, StrictTask>();
  private lastId = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: StrictServerOptions,
  ) {}

  static async start(options: StrictServerOptions): Promise<StrictPre10Server> {
    const server = createServer();
    const agent = new StrictPre10Server(server, options);
    server.on('request', (request, response) => void agent.serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/agent`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = (status: number, body?: Json): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
    if (request.method === 'GET' && request.url === '/agent/agent-card' && this.options.hasCard)
      return reply(200, this.card());
    if (request.method !== 'POST' || request.url !== '/agent') return reply(404);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    reply(200, this.call(request, Buffer.concat(chunks).toString()));
  }

  private card(): Json {
    const modes = ['text/plain', 'application/json'];
    const skill = { id: 'repeat', name: 'Repeat', description: 'Repeats', inputModes: modes, outputModes: modes };
    return {
      name: 'strict',
      description: 'An agent from before A2A 1.0',
      url: this.url,
      capabilities: { streaming: false, pushNotifications: false },
      skills: [skill],
      defaultInputModes: modes,
      defaultOutputModes: modes,
    };
  }

  private call(request: IncomingMessage, body: string): Json {
    let id: unknown = null;
    try {
      const envelope = parsed(body);
      id = envelope['id'] ?? null;
      requireEnvelope(envelope, request);
      if (typeof id !== 'number' || id <= this.lastId) throw new JsonRpcError(-32600, 'id must grow');
      this.lastId = id;
      return { jsonrpc: '2.0', id, result: this.send(envelope['params']) };
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      this.refused.push(error.message);
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  }

  private send(params: unknown): StrictTask {
    const { message, configuration } = members(params, 'params', ['message', 'configuration']);
    const { acceptedOutputModes, blocking } = members(configuration, 'configuration', [
      'acceptedOutputModes',
      'blocking',
    ]);
    if (JSON.stringify(acceptedOutputModes) !== '["text/plain","application/json"]')
      throw invalid('configuration.acceptedOutputModes');
    if (blocking !== true) throw invalid('configuration.blocking');
    const { role, parts, taskId } = members(message, 'message', ['role', 'parts'], ['taskId']);
    if (role !== 'user') throw invalid('message.role');
    if (!Array.isArray(parts) || parts.length === 0) throw invalid('message.parts');
    for (const part of parts) requirePart(part);
    return this.answered(parts as Json[], taskId);
  }

  private answered(parts: Json[], taskId: unknown): StrictTask {
    const asked = this.tasks.get(String(taskId));
    if (taskId !== undefined && asked?.status !== 'input-required') throw invalid('message.taskId');
    const text = String(parts.find(({ type }) => type === 'text')?.['text'] ?? '');
    const data = parts.find(({ type }) => type === 'data')?.['data'];
    this.accepted.push({ text, ...(data !== undefined && { data }), ...(asked && { taskId: asked.id }) });
    const { status, ...said } = (this.options.answer ?? repeats)(text, data);
    const id = asked?.id ?? `task-${randomBytes(8).toString('hex')}`;
    const task: StrictTask = {
      id,
      contextId: asked?.contextId ?? `ctx-${randomBytes(8).toString('hex')}`,
      status,
      messages: [...(asked?.messages ?? []), { role: 'user', parts }, { role: 'agent', parts: partsOf(said) }],
      ...(status === 'completed' && { artifacts: [{ name: 'result', parts: partsOf(said), index: 0 }] }),
    };
    this.tasks.set(id, task);
    return task;
  }
}

const repeats = (text: string, data: unknown): StrictAnswer => ({
  status: 'completed',
  text: `<${text}>`,
  ...(data !== undefined && { data }),
});

function partsOf({ text, data }: Omit<StrictAnswer, 'status'>): Json[] {
  return [
    ...(text === undefined ? [] : [{ type: 'text', text, mimeType: 'text/plain' }]),
    ...(data === undefined ? [] : [{ type: 'data', data, mimeType: 'application/json' }]),
  ];
}

function parsed(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch {
    throw new JsonRpcError(-32700, 'Parse error');
  }
}

/**
 * Checks the envelope of a request, the method first: from its error a newer client learns that it must use another
 * dialect.
 */
function requireEnvelope(envelope: Json, { headers }: IncomingMessage): void {
  if (envelope['method'] !== 'a2a.sendMessage') throw new JsonRpcError(-32601, 'Method not found');
  const { jsonrpc } = members(envelope, 'the request', ['jsonrpc', 'id', 'method', 'params']);
  if (jsonrpc !== '2.0') throw new JsonRpcError(-32600, 'jsonrpc must be 2.0');
  if (headers['content-type'] !== 'application/json') throw new JsonRpcError(-32600, 'it must be application/json');
  const modern = Object.keys(headers).find((name) => name.startsWith('a2a-'));
  if (modern !== undefined) throw new JsonRpcError(-32600, `the header ${modern} is unknown`);
}

function requirePart(part: unknown): void {
  const kind = (part as Json | null)?.['type'];
  if (kind !== 'text' && kind !== 'data') throw invalid('part.type');
  const { mimeType, text } = members(part, 'part', ['type', kind, 'mimeType']);
  if (typeof mimeType !== 'string') throw invalid('part.mimeType');
  if (kind === 'text' && typeof text !== 'string') throw invalid('part.text');
}

/** Returns an object that has all of the required members, and none but these and the optional ones. */
function members(value: unknown, name: string, required: string[], optional: string[] = []): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(name);
  const missing = required.find((member) => !(member in value));
  if (missing !== undefined) throw new JsonRpcError(-32602, `Invalid params: ${name} has no ${missing}`);
  const unknown = Object.keys(value).find((member) => !required.includes(member) && !optional.includes(member));
  if (unknown !== undefined) throw new JsonRpcError(-32602, `Invalid params: ${name} has an unknown ${unknown}`);
  return value as Json;
}

function invalid(name: string): JsonRpcError {
  return new JsonRpcError(-32602, `Invalid params: ${name}`);
}
