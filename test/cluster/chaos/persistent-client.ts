import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, SendMessageResponse, Task } from '#libs/protocol';
import { type RpcReply, VERSION } from '../../support/a2a.js';
import { NoEventStream, SseReader } from '../../support/sse.js';
import type { ClientLog } from './client-log.js';
import { type HttpAnswer, impropriety } from './improper-answers.js';

const ANSWER_WITHIN_MS = 20_000;
const SILENCE_MS = 20_000;
const PAUSE_MS = 100;

/** Reports that the trial is over, so no answer will arrive any more. */
export class TrialOver extends Error {
  override readonly name = 'TrialOver';
}

/** Client that never gives up: it repeats requests without an answer, under the same idempotency key. */
export class PersistentClient {
  constructor(
    readonly url: string,
    private readonly log: ClientLog,
    private readonly over: AbortSignal,
  ) {}

  /** Starts a run and returns its id. */
  async startRun(workflow: string, inputs: JsonObject): Promise<string> {
    const { runId } = await this.json<{ runId: string }>(`/api/workflows/${workflow}/runs`, { inputs }, randomUUID());
    return runId;
  }

  /** Creates a Task by SendMessage; `messageId` is the idempotency key as well. */
  async begin(path: string, messageId: string, text: string): Promise<Task> {
    return this.ask(path, messageId, text, { returnImmediately: true });
  }

  /** Creates a Task as `begin` does, and returns it once it has ended. */
  async ask(path: string, messageId: string, text: string, configuration: JsonObject = {}): Promise<Task> {
    const params = { message: userText(messageId, text), configuration };
    const { result } = await this.rpc<SendMessageResponse>(path, 'SendMessage', params, messageId);
    if (result === undefined || !('task' in result)) throw new Error(`No Task: ${JSON.stringify(result)}`);
    return result.task;
  }

  /**
   * Sends a follow-up Message until the Task's history contains it. @returns the Task in its next waiting or terminal
   * state
   */
  async answer(path: string, taskId: string, messageId: string, text: string): Promise<Task> {
    const message = { ...userText(messageId, text), taskId };
    for (;;) {
      const task = await this.task(path, taskId);
      const heard = task.history?.some((it) => it.messageId === messageId);
      if (heard && !/WORKING|SUBMITTED/.test(task.status.state)) return task;
      // One that got no answer may be taken in later: only its key keeps it from being taken in twice.
      const body = rpcBody('SendMessage', { message });
      if (!heard) await this.once(`/a2a/${path}`, body, messageId).catch(() => undefined);
      await this.pause();
    }
  }

  async task(path: string, taskId: string): Promise<Task> {
    const { result, error } = await this.rpc<Task>(path, 'GetTask', { id: taskId });
    if (result === undefined) throw new Error(`GetTask ${taskId}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Returns the answer of a JSON-RPC method. Repeats the call after an internal error. */
  async rpc<T>(path: string, method: string, params: object, key?: string): Promise<RpcReply<T>['body']> {
    for (;;) {
      const body = await this.json<RpcReply<T>['body']>(`/a2a/${path}`, rpcBody(method, params), key);
      if (body.error?.code !== -32603) return body;
      await this.again();
    }
  }

  /** Yields events after a sequence number, at most `limit` of them, until the stream ends or breaks. */
  async *events<T>(path: string, body: object | undefined, after: number, limit: number): AsyncGenerator<Frame<T>> {
    const reader = await SseReader.open<T>(`${this.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: VERSION,
      lastEventId: after,
      ...(body !== undefined && { body }),
    }).catch((error: unknown) => {
      if (error instanceof NoEventStream) this.lookAt(path, { ...statusOf(error.response), text: error.text });
      return undefined;
    });
    try {
      for (let count = 0; reader !== undefined && count < limit; count += 1) {
        const frame = await reader.next({ within: SILENCE_MS }).catch(() => undefined);
        if (frame === undefined) break;
        if (/"code":(-32603|500)\b/.test(frame.raw) && frame.id === undefined)
          this.log.improper.push(`a stream of ${path}: ${frame.raw.slice(0, 300)}`);
        if (frame.id !== undefined) yield { sequence: Number(frame.id), event: frame.event, data: frame.data };
      }
    } finally {
      reader?.abort();
    }
    await this.again();
  }

  async pause(milliseconds = PAUSE_MS): Promise<void> {
    await delay(milliseconds);
    if (this.over.aborted) throw new TrialOver();
  }

  /** Returns the body of a successful answer; retries after temporary failures. */
  private async json<T>(path: string, body: object, key?: string): Promise<T> {
    for (;;) {
      const reply = await this.once(path, body, key).catch(() => undefined);
      if (reply !== undefined && reply.status < 300) return reply.body as T;
      if (reply !== undefined && reply.status < 500) this.log.absurd.push(`${path}: ${reply.status} ${reply.text}`);
      await this.again();
    }
  }

  private lookAt(path: string, answer: HttpAnswer): void {
    const improper = impropriety(answer);
    if (improper !== undefined) this.log.improper.push(`${path}: ${improper}`);
  }

  private async again(): Promise<void> {
    this.log.repeated += 1;
    await this.pause();
  }

  private async once(
    path: string,
    body: object,
    key?: string,
  ): Promise<{ status: number; text: string; body: unknown }> {
    const reply = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...VERSION, ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await reply.text();
    this.lookAt(path, { ...statusOf(reply), text });
    return { status: reply.status, text, body: reply.status < 300 ? JSON.parse(text) : undefined };
  }
}

function statusOf({ status, headers }: Response): Pick<HttpAnswer, 'status' | 'headers'> {
  return { status, headers };
}

export interface Frame<T> {
  sequence: number;
  event: string | undefined;
  data: T;
}

export function rpcBody(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params };
}

function userText(messageId: string, text: string): object {
  return { messageId, role: 'ROLE_USER', parts: [{ text }] };
}
