import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentCard, JsonObject, Message, Part, SendMessageRequest } from '#libs/protocol';
import { answers, type FakeBehaviour } from './fake-behaviour.js';
import { result, rpcError, sendEvents, snapshotThen, storedThen, streamError } from './fake-replies.js';
import { FakeTask } from './fake-task.js';
import { listenAnywhere } from './free-port.mjs';
import { type Deadline, until } from './until.js';

/** Milliseconds for which an idle connection stays open. */
const KEPT_MS = 60_000;

/** Request that a fake agent received, and the fate of its connection. */
export interface FakeCall {
  /** `performance.now()` of the arrival. `doneAt` is that of the end of the answer; absent while it is open. */
  at: number;
  doneAt?: number;
  /** Time of the arrival by the clock of the machine, which other processes share. */
  time: number;
  httpMethod: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** Body as JSON; `undefined` without a body. */
  body: JsonObject | undefined;
  /** JSON-RPC method, if the request is a JSON-RPC call. */
  method?: string;
  /** Message of the request, if it sends one. */
  message?: Message;
  /** Text of the first text Part of that Message. */
  text?: string;
  /** True if the caller closed the connection before the answer was complete. */
  aborted: boolean;
  abortedAt?: number;
}

export interface FakeAgentOptions {
  name?: string;
  /** Streaming capability in the card; default false. */
  streaming?: boolean;
  /** Value of `Cache-Control` of the card; default `max-age=0`. */
  cacheControl?: string;
  /** Path of JSON-RPC in the card; default `/a2a`. */
  rpcPath?: string;
  /** Answer to CancelTask: the canceled Task, the error TaskNotCancelable, or none. */
  cancel?: 'acknowledge' | 'refuse' | 'hang';
  /** Members of the card that replace the default ones. */
  card?: JsonObject;
  /** True if the stream that answers a follow-up begins with the Task as it was before; default false. */
  storedFirst?: boolean;
  /** True if GetTask and SubscribeToTask know no Task; default false. */
  forgetful?: boolean;
  /** True if SubscribeToTask knows no Task that has ended, as in a2a-go; default: false. */
  forgetsEnded?: boolean;
  /** Returns true if a call is authorized; otherwise the agent answers 401. The card needs no authorization. */
  admits?: (call: FakeCall) => boolean;
}

type Program = FakeBehaviour | ((call: FakeCall, index: number) => FakeBehaviour);

/**
 * Fake agent of A2A 1.0: a real HTTP server that records every request and answers as a test specifies. Its agent URL
 * is `url`; JSON-RPC is served at the path in its card.
 */
export class FakeAgent {
  readonly calls: FakeCall[] = [];
  /** Options of the agent. A change applies from the next request on. */
  readonly options: Required<FakeAgentOptions>;
  private program: Program = answers('ok');
  private queue: FakeBehaviour[] = [];
  private readonly tasks = new Map<string, FakeTask>();
  private readonly port: number;

  private constructor(
    private readonly server: Server,
    options: FakeAgentOptions,
  ) {
    this.port = (server.address() as AddressInfo).port;
    this.options = {
      name: 'fake',
      streaming: false,
      cacheControl: 'max-age=0',
      rpcPath: '/a2a',
      cancel: 'acknowledge',
      card: {},
      storedFirst: false,
      forgetful: false,
      forgetsEnded: false,
      admits: () => true,
      ...options,
    };
  }

  static async start(options: FakeAgentOptions = {}): Promise<FakeAgent> {
    const server = createServer();
    // A process of tests may be so busy that it ends a silent connection on which a Message has come.
    server.keepAliveTimeout = KEPT_MS;
    await listenAnywhere(server);
    const agent = new FakeAgent(server, options);
    server.on('request', (request, response) => void agent.handle(request, response).catch(() => response.destroy()));
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sets the answer to every Message from now on. */
  always(program: Program): this {
    this.program = program;
    return this;
  }

  /** Sets the answers to the next Messages, one each; then the program of `always` applies again. */
  next(...behaviours: FakeBehaviour[]): this {
    this.queue.push(...behaviours);
    return this;
  }

  /** Requests that sent Messages, in order of arrival. */
  get sends(): FakeCall[] {
    return this.calls.filter(({ method }) => method === 'SendMessage' || method === 'SendStreamingMessage');
  }

  /** First text of every received Message. */
  get texts(): (string | undefined)[] {
    return this.sends.map(({ text }) => text);
  }

  get cardReads(): FakeCall[] {
    return this.calls.filter(({ httpMethod }) => httpMethod === 'GET');
  }

  /** Task ids of the received CancelTask calls. */
  get cancels(): string[] {
    return this.calls
      .filter(({ method }) => method === 'CancelTask')
      .map(({ body }) => (body?.params as { id: string }).id);
  }

  taskIds(): string[] {
    return [...this.tasks.keys()];
  }

  /** Ids of the Tasks that the agent created for a Message: one for each time that the Message arrived. */
  tasksMadeBy(messageId: string | undefined): string[] {
    const made = [...this.tasks.values()].filter(({ task }) => task.history?.[0]?.messageId === messageId);
    return made.map(({ task }) => task.id);
  }

  /** Waits for the n-th request that sends a Message, counted from 1. */
  async sent(count = 1, deadline: Deadline = {}): Promise<FakeCall> {
    try {
      return await until(() => this.sends[count - 1], { what: `send ${count} to ${this.options.name}`, ...deadline });
    } catch (error) {
      const got = this.calls.map(({ httpMethod, path, method = '' }) => `${httpMethod} ${path} ${method}`.trim());
      throw new Error(`${error instanceof Error ? error.message : error}; it got ${JSON.stringify(got)}`, {
        cause: error,
      });
    }
  }

  /** Lets every Task that is held now continue. Later Tasks are held as before. */
  release(): void {
    this.tasks.forEach((task) => task.release());
  }

  /** Closes every connection and refuses new ones. The Tasks are kept. */
  async goDown(): Promise<void> {
    await this.stop();
  }

  /** Listens again, on the same port as before. */
  async comeUp(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = this.record(request, response);
    if (request.method === 'GET') return this.card(request, response);
    await this.read(call, request);
    if (!this.options.admits(call)) {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return;
    }
    if (call.method === 'CancelTask') return this.cancel(call, response);
    if (call.method === 'GetTask') return this.getTask(call, response);
    if (call.method === 'SubscribeToTask') return this.subscribe(call, response);
    if (call.message === undefined) return rpcError(response, call, -32601, 'Method not found');
    const index = this.sends.indexOf(call);
    await this.answer(
      call,
      response,
      this.queue.shift() ?? (typeof this.program === 'function' ? this.program(call, index) : this.program),
    );
  }

  private record(request: IncomingMessage, response: ServerResponse): FakeCall {
    const call: FakeCall = {
      at: performance.now(),
      time: Date.now(),
      httpMethod: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: undefined,
      aborted: false,
    };
    response.on('close', () => {
      if (response.writableFinished) call.doneAt = performance.now();
      else Object.assign(call, { aborted: true, abortedAt: performance.now() });
    });
    this.calls.push(call);
    return call;
  }

  private async read(call: FakeCall, request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    call.body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    call.method = call.body.method as string;
    const params = call.body.params as unknown as SendMessageRequest | undefined;
    call.message = params?.message;
    call.text = params?.message?.parts.find((part: Part) => part.text !== undefined)?.text;
  }

  private async answer(call: FakeCall, response: ServerResponse, behaviour: FakeBehaviour): Promise<void> {
    if ('delay' in behaviour) {
      await delay(behaviour.delay);
      return this.answer(call, response, behaviour.then);
    }
    if ('until' in behaviour) {
      await until(behaviour.until, { what: 'the moment to answer' });
      return this.answer(call, response, behaviour.then);
    }
    if ('hang' in behaviour) return;
    if ('rpcError' in behaviour)
      return rpcError(response, call, behaviour.rpcError.code, behaviour.rpcError.message, behaviour.rpcError.data);
    if ('httpStatus' in behaviour) {
      response
        .writeHead(behaviour.httpStatus, { 'content-type': 'text/plain', ...behaviour.headers })
        .end(behaviour.body ?? '');
      return;
    }
    if ('body' in behaviour) {
      response.writeHead(200, { 'content-type': behaviour.contentType ?? 'application/json' }).end(behaviour.body);
      return;
    }
    if ('message' in behaviour) return this.direct(call, response, behaviour.message);
    await this.work(call, response, behaviour.steps);
  }

  private async work(
    call: FakeCall,
    response: ServerResponse,
    steps: Extract<FakeBehaviour, { steps: unknown }>['steps'],
  ): Promise<void> {
    const message = call.message as Message;
    const known = message.taskId === undefined ? undefined : this.tasks.get(message.taskId);
    if (message.taskId !== undefined && known === undefined) return rpcError(response, call, -32001, 'Task not found');
    const task = known ?? new FakeTask(message);
    const from = known === undefined ? 0 : task.length;
    this.tasks.set(task.task.id, task);
    const stored = known && this.options.storedFirst ? structuredClone(known.task) : undefined;
    if (known !== undefined) task.receive(message);
    void task.play(steps, (after) => (after === true ? response.destroy() : streamError(response, call, after)));
    if (call.method === 'SendStreamingMessage')
      return sendEvents(response, call, storedThen(stored, task.follow(from)));
    if (known !== undefined && wantsNoWait(call)) return result(response, call, { task: stored ?? task.task });
    result(response, call, { task: await task.untilSettled() });
  }

  private direct(call: FakeCall, response: ServerResponse, parts: Part[]): Promise<void> | void {
    const message: Message = { messageId: `direct-${this.calls.length}`, role: 'ROLE_AGENT', parts };
    if (call.method === 'SendStreamingMessage') return sendEvents(response, call, [{ message }]);
    result(response, call, { message });
  }

  private cancel(call: FakeCall, response: ServerResponse): void {
    if (this.options.cancel === 'hang') return;
    const task = this.tasks.get((call.body?.params as { id: string }).id);
    if (task === undefined) return rpcError(response, call, -32001, 'Task not found');
    if (this.options.cancel === 'refuse' || !task.cancel())
      return rpcError(response, call, -32002, 'Task cannot be canceled');
    result(response, call, task.task);
  }

  private kept({ body }: FakeCall): FakeTask | undefined {
    return this.options.forgetful ? undefined : this.tasks.get((body?.params as { id: string }).id);
  }

  private getTask(call: FakeCall, response: ServerResponse): void {
    const task = this.kept(call);
    if (task === undefined) return rpcError(response, call, -32001, 'Task not found');
    result(response, call, task.task);
  }

  private subscribe(call: FakeCall, response: ServerResponse): Promise<void> | void {
    const task = this.kept(call);
    const isForgotten = task?.terminal && this.options.forgetsEnded;
    if (task === undefined || isForgotten) return rpcError(response, call, -32001, 'Task not found');
    if (task.terminal) return rpcError(response, call, -32004, 'The task has ended');
    return sendEvents(response, call, snapshotThen(task));
  }

  private card(request: IncomingMessage, response: ServerResponse): void {
    const body = JSON.stringify(this.describe());
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag, 'cache-control': this.options.cacheControl }).end();
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/json', etag, 'cache-control': this.options.cacheControl })
      .end(body);
  }

  private describe(): JsonObject {
    const card: AgentCard = {
      name: this.options.name,
      description: 'A fake agent of a test',
      version: '1.0.0',
      supportedInterfaces: [
        { url: `${this.url}${this.options.rpcPath}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: this.options.streaming, pushNotifications: false },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'fake', name: 'Fake', description: 'Answers as told', tags: ['test'] }],
    };
    return { ...(card as unknown as JsonObject), ...this.options.card };
  }
}

/** True if the request asks for the Task as soon as the agent has the Message (`returnImmediately`). */
function wantsNoWait({ body }: FakeCall): boolean {
  return (body?.params as SendMessageRequest | undefined)?.configuration?.returnImmediately === true;
}
