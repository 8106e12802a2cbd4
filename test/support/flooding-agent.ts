import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';

/** Answers one call. It may write as long as the connection is open. */
export type Flood = (response: ServerResponse, id: unknown) => Promise<void>;

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Remote agent on plain `node:http` that answers with far more data than a caller accepts. */
export class FloodingAgent {
  /** Bytes written since the last call of `flood`. */
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

  /** Sets the answer to all calls from now on, as an agent of A2A 0.3 if `legacy` is true. */
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

  /** Writes a piece, and waits until the reader accepts more. Rejects when the reader has disconnected. */
  readonly write = async (response: ServerResponse, piece: string | Buffer): Promise<void> => {
    if (response.destroyed) throw new Error('The reader has left');
    this.written += piece.length;
    if (response.write(piece)) return;
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
  };

  /** Writes filler pieces until so many bytes have been written. */
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

/** Writes a gzip body of one megabyte that decompresses to a gigabyte. */
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
