import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SendMessageRequest, Task } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import type { Task as WireTask } from '#libs/protocol';
import type { ClientLog } from './client-log.js';
import { grpcImpropriety, type HttpAnswer, impropriety } from './improper-answers.js';

const ANSWER_WITHIN_MS = 30_000;
const PAUSE_MS = 150;

/**
 * Callers that send plain Messages with the official SDK's client and wait for the answer: over JSON-RPC through the
 * balancer, and over gRPC to each replica. A Message without an answer is not sent again; the next Message is a new
 * one.
 */
export class SdkCallers {
  private going = true;
  private readonly leaving = new AbortController();
  private readonly done: Promise<unknown>;

  /** @param grpc replicas to call over gRPC; they must live as long as this object */
  constructor(
    balancer: string,
    grpc: readonly string[],
    private readonly agent: string,
    private readonly log: ClientLog,
  ) {
    const callers = [[balancer, 'JSONRPC'] as const, ...grpc.map((url) => [url, 'GRPC'] as const)];
    this.done = Promise.all(callers.map(([url, transport]) => this.call(url, transport)));
  }

  /** Resolves when every Message has its answer, or after the given time. */
  async stop(withinMs: number): Promise<void> {
    this.going = false;
    const timer = setTimeout(() => this.leaving.abort(), withinMs);
    await this.done;
    clearTimeout(timer);
  }

  private async call(url: string, transport: string): Promise<void> {
    let client: Client | undefined;
    while (this.going) {
      try {
        client ??= await this.client(`${url}/a2a/${this.agent}/`, transport);
        await this.send(client);
      } catch (error) {
        const improper = transport === 'GRPC' ? grpcImpropriety(error) : undefined;
        if (improper !== undefined) this.log.improper.push(improper);
        this.log.repeated += 1;
      }
      await delay(PAUSE_MS);
    }
  }

  private async send(client: Client): Promise<void> {
    const messageId = randomUUID();
    const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'turn 1' }] };
    const signal = AbortSignal.any([this.leaving.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    const result = await client.sendMessage(SendMessageRequest.fromJSON({ message }), { signal });
    const { id, status } = Task.toJSON(result as Task) as WireTask;
    const told = this.log.begin({ kind: 'message', taskId: id, messageId });
    told.state = status.state;
  }

  private client(base: string, transport: string): Promise<Client> {
    const transports = [
      new JsonRpcTransportFactory({ fetchImpl: (...call) => this.fetch(...call) }),
      new GrpcTransportFactory(),
    ];
    const options = { transports, preferredTransports: [transport] };
    const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, options));
    return factory.createFromUrl(base, '.well-known/agent-card.json');
  }

  /** Checks every response before the SDK converts it to an error. */
  private async fetch(...call: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...call);
    const answer: HttpAnswer = {
      status: response.status,
      headers: response.headers,
      text: await response.clone().text(),
    };
    const improper = impropriety(answer);
    if (improper !== undefined) this.log.improper.push(`SDK: ${improper}`);
    return response;
  }
}
