import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { StreamResponse } from '#libs/protocol';
import { listenAnywhere } from './free-port.mjs';
import { SAFETY_NET_MS, until } from './until.js';

/** Received request, and the status of its answer. */
export interface ReceivedNotification {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: StreamResponse;
  answered: number;
}

/** Webhook of a client: a real HTTP server that records every notification. */
export class WebhookReceiver {
  readonly received: ReceivedNotification[] = [];
  /** Statuses of the next answers, in order; then 200. */
  statuses: number[] = [];
  /** True to hold answers back until `release`. */
  holds = false;
  /** Number of requests without an answer. `requests` counts all, `mostUnderWay` the most at the same time. */
  underWay = 0;
  requests = 0;
  mostUnderWay = 0;
  private readonly held: (() => void)[] = [];
  /** Headers of every answer. */
  answerHeaders: Record<string, string> = {};

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server, await listenAnywhere(server));
    server.on('request', (request, response) => void receiver.take(request, response).catch(() => response.destroy()));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Accepted notifications, each once, in the order of their first acceptance. */
  get accepted(): ReceivedNotification[] {
    const seen = new Set<string>();
    return this.received.filter(({ id, answered }) => answered < 300 && !seen.has(id) && seen.add(id));
  }

  /** Kind of each notification in `accepted`: `task`, the state of a status update, or `artifact`. */
  get story(): string[] {
    return this.accepted.map(({ event }) => {
      if ('statusUpdate' in event) return event.statusUpdate.status.state;
      return 'task' in event ? 'task' : 'artifact';
    });
  }

  /** Waits until a notification with a terminal status was accepted. */
  async ended(within = SAFETY_NET_MS): Promise<void> {
    await until(() => /COMPLETED|FAILED|CANCELED|REJECTED/.test(this.story.at(-1) ?? ''), {
      within,
      what: 'the terminal notification',
    });
  }

  /** Sends the answers that were held back, and holds back no further ones. */
  release(): void {
    this.holds = false;
    for (const answer of this.held.splice(0)) answer();
  }

  /** Stops listening, so that connections are refused until `comeUp`. */
  async goDown(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async comeUp(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    if (this.server.listening) await this.goDown();
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    this.requests += 1;
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    response.once('close', () => (this.underWay -= 1));
    if (this.holds) await new Promise<void>((resolve) => this.held.push(resolve));
    const answered = this.statuses.shift() ?? 200;
    const id = String(request.headers['x-a2a-notification-id']);
    const event = JSON.parse(body) as StreamResponse;
    this.received.push({ id, headers: request.headers, body, event, answered });
    response.writeHead(answered, this.answerHeaders).end();
  }
}
