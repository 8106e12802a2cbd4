import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { Server as LegacyServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '#libs/protocol';
import { type Api, unique } from './workflow.js';

export interface TestTool {
  name: string;
  description?: string;
  inputSchema?: JsonObject;
  annotations?: JsonObject;
  /** Result of a call; default: the text of the tool, or its name. */
  call?: (args: JsonObject, signal: AbortSignal) => JsonObject | Promise<JsonObject>;
}

/** Received call of a tool. */
export interface TestCall {
  tool: string;
  args: JsonObject;
  meta: JsonObject;
  signal: AbortSignal;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * MCP server over HTTP, for both eras of the protocol (see McpSession) or for `legacy` alone. Its tools can be changed
 * at any time.
 */
export class McpHttpServer {
  readonly calls: TestCall[] = [];
  readonly requests: { method: string; authorization?: string }[] = [];
  tools: TestTool[] = [{ name: 'echo', description: 'Says what it is told', annotations: { readOnlyHint: true } }];
  /** Handles a request in place of the server if it returns true. */
  instead: Answer = () => false;
  /** True if the list of tools has infinitely many pages. */
  pages = false;
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  private readonly modern = createMcpHandler(() => this.modernServer());

  private constructor(
    private readonly era: 'both' | 'legacy',
    private readonly http: HttpServer,
  ) {}

  static async start(era: 'both' | 'legacy' = 'both'): Promise<McpHttpServer> {
    const http = createServer();
    const server = new McpHttpServer(era, http);
    http.on('request', (request, response) => void server.answer(request, response));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`;
  }

  /** Forgets all sessions, as a restart of the server does. */
  async forget(): Promise<void> {
    for (const it of this.sessions.values()) await it.close();
    this.sessions.clear();
  }

  /** Closes all connections. */
  cut(): void {
    this.http.closeAllConnections();
  }

  async stop(): Promise<void> {
    await this.forget();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    this.requests.push({ method, ...(headers.authorization && { authorization: headers.authorization }) });
    if (this.instead(request, response)) return;
    if (this.era === 'legacy') return this.answerLegacy(request, response);
    const body = await bodyOf(request);
    const given = new AbortController();
    response.on('close', () => given.abort());
    const answer = await this.modern.fetch(
      new Request(new URL(request.url ?? '/', this.url), {
        method,
        headers: headers as Record<string, string>,
        ...(method === 'POST' && { body }),
        signal: given.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  }

  private async answerLegacy(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const body = request.method === 'POST' ? (JSON.parse(await bodyOf(request)) as JsonObject) : undefined;
    const known = typeof id === 'string' ? this.sessions.get(id) : undefined;
    if (known) return known.handleRequest(request, response, body);
    if (id !== undefined) return void response.writeHead(404).end();
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void this.sessions.set(session, transport),
    });
    await this.legacyServer().connect(transport as Parameters<LegacyServer['connect']>[0]);
    await transport.handleRequest(request, response, body);
  }

  private modernServer(): Server {
    const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      const page = Number(params?.cursor ?? 0) + 1;
      return { tools: this.listed(), ...(this.pages && { nextCursor: String(page) }) } as never;
    });
    server.setRequestHandler(
      'tools/call',
      ({ params }, { mcpReq }) =>
        this.called(params.name, params.arguments as JsonObject, params._meta as JsonObject, mcpReq.signal) as never,
    );
    return server;
  }

  private legacyServer(): LegacyServer {
    const server = new LegacyServer({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: this.listed() }) as never);
    server.setRequestHandler(
      CallToolRequestSchema,
      ({ params }, { signal }) =>
        this.called(params.name, params.arguments as JsonObject, params._meta as JsonObject, signal) as never,
    );
    return server;
  }

  private listed(): JsonObject[] {
    return this.tools.map(({ name, description, inputSchema = { type: 'object' }, annotations }) => ({
      name,
      inputSchema,
      ...(description !== undefined && { description }),
      ...(annotations && { annotations }),
    }));
  }

  private async called(tool: string, args: JsonObject, meta: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    this.calls.push({ tool, args, meta, signal });
    const found = this.tools.find(({ name }) => name === tool);
    if (!found) return { content: [{ type: 'text', text: `no tool ${tool}` }], isError: true };
    if (found.call) return found.call(args, signal);
    return { content: [{ type: 'text', text: typeof args.text === 'string' ? args.text : tool }] };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

/** Stores an MCP server at a service and returns its name; throws if it is refused. */
export async function keepMcpServer(api: Api, fields: JsonObject = {}): Promise<string> {
  const name = unique('mcp');
  const reply = await api.call('POST', '/mcp-servers', { name, url: 'https://mcp.example.com', ...fields });
  if (reply.status !== 201) throw new Error(`Keeping an MCP server failed: ${reply.status} ${reply.text}`);
  return name;
}
