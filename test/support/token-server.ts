import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Received request for a token. */
export interface TokenRequest {
  headers: IncomingHttpHeaders;
  form: Record<string, string>;
}

/**
 * Authorization server that issues tokens by the client credentials grant, and knows which of them are valid. Its path
 * `/introspect` answers that to servers (RFC 7662).
 */
export class TokenServer {
  readonly requests: TokenRequest[] = [];
  /** Issued tokens. */
  readonly issued: string[] = [];
  /** Lifetime of the tokens, in seconds. */
  lifetime: number;
  /** Answers to the next requests in place of a token. */
  readonly next: { status: number; body: string }[] = [];
  private readonly ends = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    lifetime: number,
  ) {
    this.lifetime = lifetime;
  }

  static async start(lifetime = 3600): Promise<TokenServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const tokens = new TokenServer(server, lifetime);
    server.on('request', (request, response) => void tokens.answer(request, response));
    return tokens;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  /** True if an `Authorization` header has a token that is still valid. */
  accepts(authorization: string | undefined): boolean {
    const end = this.ends.get(authorization?.replace(/^Bearer /, '') ?? '');
    return end !== undefined && performance.now() < end;
  }

  /** Invalidates every token before it expires. */
  revoke(): void {
    this.ends.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    if (request.url === '/introspect')
      return void response.end(JSON.stringify({ active: this.accepts(`Bearer ${form['token']}`) }));
    this.requests.push({ headers: request.headers, form });
    const told = this.next.shift() ?? { status: 200, body: JSON.stringify(this.issue()) };
    response.writeHead(told.status, { 'content-type': 'application/json' }).end(told.body);
  }

  private issue(): object {
    const token = `issued-${randomBytes(12).toString('hex')}`;
    this.issued.push(token);
    this.ends.set(token, performance.now() + this.lifetime * 1000);
    return { access_token: token, token_type: 'Bearer', expires_in: this.lifetime };
  }
}
