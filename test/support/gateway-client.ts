import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from './until.js';

export interface GatewayFrame {
  type?: string;
  stream?: string;
  cursor: string;
  [field: string]: unknown;
}

/** WebSocket client of the event gateway that records every frame. */
export class GatewayClient {
  readonly frames: GatewayFrame[] = [];
  closed: { code: number; reason: string } | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as GatewayFrame));
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    socket.on('error', () => undefined);
  }

  /** Connects; resolves when the hello frame has arrived. */
  static async open(
    url: string,
    query: Record<string, string> = {},
    credentials: { headers?: Record<string, string>; protocols?: string[] } = {},
  ): Promise<GatewayClient> {
    const address = `${url.replace(/^http/, 'ws')}/events?${new URLSearchParams(query).toString()}`;
    const client = new GatewayClient(
      new WebSocket(address, credentials.protocols ?? [], { headers: credentials.headers }),
    );
    await until(() => client.frames.length > 0 || client.closed !== undefined, { what: 'the hello' });
    if (client.frames.length === 0) throw new Error(`No hello: ${client.closed?.code}`);
    return client;
  }

  /** Received frames except the hello. */
  get events(): GatewayFrame[] {
    return this.frames.filter((frame) => frame.stream !== undefined);
  }

  /** Begins a subscription; resolves when the gateway has confirmed it. */
  async subscribe(id: string, query: Record<string, string> = {}): Promise<void> {
    this.socket.send(JSON.stringify({ event: 'subscribe', data: { id, ...query } }));
    const isThere = (): boolean => this.frames.some((it) => it.type === 'subscribed' && it['subscription'] === id);
    await until(isThere, { what: `the subscription ${id}` });
  }

  /** Returns the frames of one subscription. */
  eventsOf(id: string): GatewayFrame[] {
    return this.events.filter((frame) => frame['subscription'] === id);
  }

  /** Cursor of the last frame, from which a new client can resume. */
  get cursor(): string {
    return this.frames.at(-1)!.cursor;
  }

  /** Closes the connection abruptly. */
  async cut(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.terminate();
    await closed;
  }
}

/** Returns the status with which an upgrade is refused. */
export async function refusedUpgrade(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    NodeJS.ReadableStream & { statusCode: number },
  ];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, body };
}
