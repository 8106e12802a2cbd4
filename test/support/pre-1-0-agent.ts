import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** JSON-RPC request that the agent received, with its path and headers. */
export interface Pre10Request {
  path: string;
  headers: IncomingHttpHeaders;
  id: JsonValue;
  method: string;
  params: JsonObject;
}

/** Answer to a request: a result or an error. */
export type Pre10Answer = { result: JsonValue } | { error: { code: number; message: string; data?: JsonValue } };

export interface Pre10AgentOptions {
  /** Path of the card; absent: the agent has none, and answers 404 to every GET. */
  cardAt?: string;
  /** Additional members of the card beside those of the dialect. */
  card?: JsonObject;
  /** Address on which the agent listens; default 127.0.0.1. */
  host?: string;
  /** True if the agent's host has a separate card, for an agent of A2A 1.0 at `/nodes`. */
  hasHost?: boolean;
  /** Path of the agent's calls; default `/`. */
  path?: string;
  /**
   * Returns the answer to a request, or `undefined` to send none; default `echoes`. A test may replace this function at
   * any time.
   */
  answer?: (request: Pre10Request) => Pre10Answer | undefined;
}

/**
 * Agent of the pre-1.0 dialect, written from the dialect's description: JSON-RPC with one method, and a card at
 * `{url}/agent-card`.
 */
export class Pre10Agent {
  readonly requests: Pre10Request[] = [];
  readonly reads: string[] = [];
  answer: (request: Pre10Request) => Pre10Answer | undefined;

  private constructor(
    private readonly server: Server,
    private readonly options: Pre10AgentOptions,
  ) {
    this.answer = options.answer ?? strict(echoes);
  }

  static async start(options: Pre10AgentOptions = {}): Promise<Pre10Agent> {
    const server = createServer();
    const agent = new Pre10Agent(server, options);
    server.on('request', (incoming, response) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('end', () => {
        const { method, url: path = '', headers } = incoming;
        response.setHeader('content-type', 'application/json');
        if (method === 'GET') {
          agent.reads.push(path);
          const card = agent.cardAt(path);
          return void response.writeHead(card ? 200 : 404).end(card && JSON.stringify(card));
        }
        const body = JSON.parse(text) as Omit<Pre10Request, 'path' | 'headers'>;
        const request = { ...body, path, headers };
        agent.requests.push(request);
        const answer = agent.answer(request);
        if (answer) response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...answer }));
      });
    });
    server.listen(0, options.host ?? '127.0.0.1');
    await once(server, 'listening');
    return agent;
  }

  get origin(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  get url(): string {
    return `${this.origin}${this.options.path ?? '/'}`;
  }

  get methods(): string[] {
    return this.requests.map(({ method }) => method);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private cardAt(path: string): JsonObject | undefined {
    if (path === this.options.cardAt) return this.card;
    if (!this.options.hasHost || path !== '/.well-known/agent-card.json') return undefined;
    const host = { url: `${this.origin}/nodes`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    return { name: 'host', supportedInterfaces: [host], capabilities: {} };
  }

  private get card(): JsonObject {
    return {
      name: 'old',
      description: 'An agent from before A2A 1.0',
      url: this.url,
      capabilities: {},
      skills: [],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain', 'application/json'],
      ...this.options.card,
    };
  }
}

/** Answers with a completed Task whose Artifact has the Parts of the Message. */
export function echoes({ params }: Pre10Request): Pre10Answer {
  const message = params.message as JsonObject;
  const artifacts = [{ name: 'said', parts: message.parts ?? [], index: 0 }];
  return { result: { id: 'task-1', status: 'completed', messages: [message], artifacts } };
}

/**
 * Wraps an answer: only the dialect's method and its parameter shapes are accepted. Additional members of a Message are
 * ignored.
 */
export function strict(answer: (request: Pre10Request) => Pre10Answer): (request: Pre10Request) => Pre10Answer {
  return (request) => {
    if (request.method !== 'a2a.sendMessage') return { error: { code: -32601, message: 'Method not found' } };
    const fault = faultOf(request.params);
    return fault === undefined ? answer(request) : { error: { code: -32602, message: fault } };
  };
}

/** Accepts any method, and finds the text of a Message by the `type` of its Part, so it reads no Part of A2A 1.0. */
export function laxly({ params }: Pre10Request): Pre10Answer {
  const parts = (params.message as JsonObject | undefined)?.parts as JsonObject[] | undefined;
  const text = parts?.find(({ type }) => type === 'text')?.text ?? 'no text';
  const artifacts = [{ parts: [{ type: 'text', text, mimeType: 'text/plain' }], index: 0 }];
  return { result: { id: 'task-1', status: 'completed', artifacts } };
}

/** Answers as an agent that speaks only A2A 1.0. */
export function upgraded({ method, params }: Pre10Request): Pre10Answer {
  if (method !== 'SendMessage') return { error: { code: -32601, message: 'Method not found' } };
  const { parts = [], taskId = 'task-2' } = params.message as JsonObject;
  const artifacts = [{ artifactId: 'a', parts }];
  return { result: { task: { id: taskId, contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, artifacts } } };
}

function faultOf({ message, configuration }: JsonObject): string | undefined {
  if (!isJsonObject(message)) return 'message is missing';
  if (message.role !== 'user') return 'role must be user';
  const { parts } = message;
  if (!Array.isArray(parts) || !parts.every(isPart)) return 'a part must have type, content and mimeType';
  const { acceptedOutputModes, blocking, ...others } = isJsonObject(configuration) ? configuration : {};
  if (!Array.isArray(acceptedOutputModes) || blocking !== true || Object.keys(others).length > 0)
    return 'configuration must have acceptedOutputModes and blocking';
  return undefined;
}

function isPart(part: JsonValue): boolean {
  if (!isJsonObject(part) || Object.keys(part).length !== 3 || typeof part.mimeType !== 'string') return false;
  return part.type === 'text' ? typeof part.text === 'string' : part.type === 'data' && part.data !== undefined;
}
