import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';

/** Answers one call; it may write for as long as the connection stands. */
export type Flood = (response: ServerResponse, id: unknown) => Promise<void>;

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** An agent elsewhere, plain `node:http`, that answers far more than anybody wants to have. */
export class FloodingAgent {
  /** Bytes that it wrote since the last `flood`. */
  written = 0;
  private answer: Flood = async (response) => void response.end();
  private card: Flood | undefined;
  private legacy = false;

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.handle(request, response).catch(() => response.destroy()));
  }

  static async start(): Promise<FloodingAgent> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FloodingAgent(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What it does from now on; as an agent of A2A 0.3 where that is said. */
  flood(answer: Flood, options: { legacy?: boolean; card?: Flood } = {}): void {
    this.answer = answer;
    this.written = 0;
    this.legacy = options.legacy ?? false;
    this.card = options.card;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Writes, and waits for the reader; rejects when that has gone. */
  readonly write = async (response: ServerResponse, piece: string | Buffer): Promise<void> => {
    if (response.destroyed) throw new Error('The reader has left');
    this.written += piece.length;
    if (response.write(piece)) return;
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
  };

  /** Writes fillers until so many bytes have gone. */
  async fill(response: ServerResponse, bytes: number, piece: string | Buffer = CHUNK): Promise<void> {
    for (let sent = 0; sent < bytes; sent += piece.length) await this.write(response, piece);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      if (this.card) return this.card(response, undefined);
      const text = JSON.stringify(this.legacy ? legacyCard(this.url) : card(this.url));
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    await this.answer(response, (JSON.parse(body) as { id: unknown }).id);
  }
}

/** A body whose gigabyte of one letter is a megabyte on the wire. */
export async function gzipBomb(response: ServerResponse, opening: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  const gzip = createGzip();
  gzip.pipe(response);
  gzip.write(opening);
  for (let megabytes = 0; megabytes < 1024 && !response.destroyed; megabytes += 1) {
    if (!gzip.write(Buffer.alloc(1024 * 1024, 'x'))) await Promise.race([once(gzip, 'drain'), once(response, 'close')]);
  }
  gzip.end();
}

const CAPABILITIES = { streaming: true };
const MODES = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };

function card(url: string): object {
  const supportedInterfaces = [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
  const said = { name: 'flood', description: 'floods', version: '1', skills: [], ...MODES };
  return { ...said, capabilities: CAPABILITIES, supportedInterfaces };
}

function legacyCard(url: string): object {
  const said = { name: 'flood', description: 'floods', version: '1', skills: [], ...MODES };
  return {
    ...said,
    protocolVersion: '0.3.0',
    url: `${url}/a2a`,
    preferredTransport: 'JSONRPC',
    capabilities: CAPABILITIES,
  };
}
