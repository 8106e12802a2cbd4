import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';

export type McpEra = 'modern' | 'legacy';

/** Received request or notification; the method of a GET is `GET`. */
export interface RawMcpRequest {
  method: string;
  id?: number;
  params: JsonObject;
}

/** Result that is sent unchanged, or a function that writes the response. */
export type RawMcpAnswer = JsonObject | ((response: ServerResponse) => void);

/**
 * MCP server over HTTP that validates nothing: it introduces itself, and answers everything else as a test specifies.
 */
export class RawMcpServer {
  readonly requests: RawMcpRequest[] = [];
  answer: (request: RawMcpRequest) => RawMcpAnswer = () => ({});
  /** Additional members of its introduction. */
  more: JsonObject = {};

  private constructor(
    private readonly era: McpEra,
    private readonly http: HttpServer,
  ) {}

  static async start(era: McpEra): Promise<RawMcpServer> {
    const http = createServer();
    const server = new RawMcpServer(era, http);
    http.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      request.on('end', () => server.reply(request.method === 'POST' ? text : '{"method":"GET"}', response));
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`;
  }

  /** Returns the number of calls of a method. */
  count(method: string): number {
    return this.requests.filter((it) => it.method === method).length;
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private reply(text: string, response: ServerResponse): void {
    const { method = 'answer', id, params = {} } = JSON.parse(text) as Partial<RawMcpRequest>;
    const request = { method, params, ...(id !== undefined && { id }) };
    this.requests.push(request);
    const answer = this.introduction(request) ?? this.answer(request);
    if (typeof answer === 'function') answer(response);
    else if (id === undefined || method === 'answer') response.writeHead(method === 'GET' ? 405 : 202).end();
    else sendMcp(response, request, 'error' in answer ? answer : { result: { ...this.kind(), ...answer } });
  }

  private introduction({ method, params }: RawMcpRequest): JsonObject | undefined {
    const about = { capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' }, ...this.more };
    if (method === 'initialize') return { ...about, protocolVersion: params['protocolVersion'] ?? '2025-11-25' };
    if (method !== 'server/discover') return undefined;
    if (this.era === 'legacy') return { error: { code: -32_601, message: 'Method not found' } };
    return { ...about, supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private' };
  }

  private kind(): JsonObject {
    return this.era === 'modern' ? { resultType: 'complete' } : {};
  }
}

/** Sends a JSON-RPC response with these members. */
export function sendMcp(response: ServerResponse, { id }: RawMcpRequest, members: JsonObject): void {
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...members }));
}
