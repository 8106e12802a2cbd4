import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';

export interface WireRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Body as JSON; `undefined` without a body. */
  body: JsonObject | undefined;
}

export interface WireCard {
  binding?: 'JSONRPC' | 'HTTP+JSON';
  /** Protocol version in the card, default 1.0; '' omits it. */
  version?: '1.0' | '0.3' | '2.0' | '';
  streaming?: boolean;
  tenant?: string;
  cacheControl?: string;
}

/** Agent with a card, whose answers a test sets byte by byte. */
export class WireAgent {
  readonly requests: WireRequest[] = [];
  readonly cardReads: IncomingHttpHeaders[] = [];
  /** Name of the agent in its card. */
  name = 'wire';

  private constructor(
    private readonly server: Server,
    readonly card: WireCard,
  ) {}

  static async start(
    card: WireCard,
    answer: (response: ServerResponse, request: WireRequest, index: number) => void,
  ): Promise<WireAgent> {
    const server = createServer();
    const agent = new WireAgent(server, card);
    server.on('request', (incoming, response) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('end', () => {
        const { method = '', url: path = '', headers } = incoming;
        if (path.endsWith('agent-card.json')) return agent.tell(response, headers);
        const body = text === '' ? undefined : (JSON.parse(text) as JsonObject);
        const request = { method, path, headers, body };
        agent.requests.push(request);
        answer(response, request, agent.requests.length - 1);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private tell(response: ServerResponse, headers: IncomingHttpHeaders): void {
    const { binding = 'JSONRPC', version = '1.0', streaming = false, tenant, cacheControl = 'max-age=60' } = this.card;
    this.cardReads.push(headers);
    const url = `${this.url}/agent`;
    const body = JSON.stringify({
      name: this.name,
      description: '',
      version: '1',
      ...(version === '0.3'
        ? { protocolVersion: '0.3.0', url, preferredTransport: binding }
        : { supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version || undefined, tenant }] }),
      capabilities: { streaming },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
    const etag = `"${this.name}"`;
    const status = headers['if-none-match'] === etag ? 304 : 200;
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': cacheControl, etag });
    response.end(status === 200 ? body : undefined);
  }
}
