import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import { type AgentCard, canonicalAgentCard, canonicalJson, encodeAgentCard, type JsonObject } from '#libs/protocol';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Agent whose card a test sets, and may sign. It answers every Message with `ok`. */
export class CardAgent {
  /** Card of the agent; `undefined`: the agent has no card. */
  card: JsonObject | undefined;
  /** Answers at further paths, by path. */
  readonly places = new Map<string, Answer>();
  /** Paths of all received requests. */
  readonly asked: string[] = [];
  /** Number of received Messages. */
  messages = 0;

  private constructor(private readonly server: Server) {
    this.card = this.plainCard();
  }

  static async start(): Promise<CardAgent> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const agent = new CardAgent(server);
    server.on('request', (request, response) => agent.handle(request, response));
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  plainCard(fields: JsonObject = {}): JsonObject {
    return {
      name: 'card agent',
      description: 'Says ok',
      version: '1',
      supportedInterfaces: [{ url: `${this.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: false },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'ok', name: 'ok', description: 'Says ok', tags: ['test'] }],
      ...fields,
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.asked.push(path);
    const place = this.places.get(path);
    if (place) return place(request, response);
    if (path === '/.well-known/agent-card.json' && this.card) return sendJson(response, this.card);
    if (path.startsWith('/rpc')) return this.reply(request, response);
    response.writeHead(404).end();
  }

  private reply(request: IncomingMessage, response: ServerResponse): void {
    void request.toArray().then((pieces) => {
      const { id } = JSON.parse(Buffer.concat(pieces as Buffer[]).toString()) as { id: number };
      this.messages += 1;
      const message = { messageId: `ok-${this.messages}`, role: 'ROLE_AGENT', parts: [{ text: 'ok' }] };
      sendJson(response, { jsonrpc: '2.0', id, result: { message } });
    });
  }
}

export function sendJson(response: ServerResponse, json: unknown): void {
  const body = JSON.stringify(json);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Key that signs cards, and its public part as a JWK Set. */
export interface CardSigning {
  jwks: { keys: JWK[] };
  sign(card: JsonObject, header?: JsonObject): Promise<JsonObject>;
}

export async function cardSigning(kid: string): Promise<CardSigning> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }] },
    sign: async (card, header = {}) => {
      const content = canonicalJson(canonicalAgentCard(encodeAgentCard(card as unknown as AgentCard)));
      const jws = await new FlattenedSign(Buffer.from(content))
        .setProtectedHeader({ alg: 'ES256', typ: 'JOSE', kid, ...header })
        .sign(privateKey);
      return { ...card, signatures: [{ protected: jws.protected as string, signature: jws.signature }] };
    },
  };
}
