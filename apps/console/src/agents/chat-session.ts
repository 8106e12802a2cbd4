import { baseOf } from '../api/directory.js';
import { callAgent } from '../api/json-rpc.js';
import { newId } from '../api/new-id.js';
import { ApiProblem, sentenceOf } from '../api/problem.js';
import { type A2aMessage, type A2aPart, type A2aStreamItem } from '../api/task.js';
import { followTaskLog } from '../api/task-log.js';
import type { AgentRef } from './agent-ref.js';
import { type Chat, getContinuation, EMPTY_CHAT, isAtWork, withAnswer, withMessage } from './chat.js';
import { brokenSentence, streamExchange, type ExchangeFrame, type ExchangeRequest, sendRequest } from './exchange.js';

export interface Exchange {
  key: string;
  request: ExchangeRequest;
  frames: readonly ExchangeFrame[];
}

export interface ChatView {
  chat: Chat;
  exchanges: readonly Exchange[];
  /** True while an answer is being read. */
  busy: boolean;
  error: string | undefined;
}

interface GrowingExchange extends Exchange {
  frames: ExchangeFrame[];
}

/** Milliseconds between two renderings of the chat; frames of a stream that arrive meanwhile are collected. */
const GATHER = 30;

/** A chat with an agent, and all other state of the playground. It is kept outside React. */
export class PlaygroundSession {
  private shown: ChatView = { chat: EMPTY_CHAT, exchanges: [], busy: false, error: undefined };
  private chat: Chat = EMPTY_CHAT;
  private exchanges: GrowingExchange[] = [];
  private busy = false;
  private error: string | undefined;
  private readonly listeners = new Set<() => void>();
  private reading = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly ref: AgentRef) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly getView = (): ChatView => this.shown;

  /** Sends a Message and reads the answer. Never rejects. */
  async sendParts(parts: A2aPart[]): Promise<void> {
    if (this.busy) return;
    const message: A2aMessage = { messageId: newId(), role: 'ROLE_USER', parts, ...getContinuation(this.chat) };
    const request = sendRequest(this.ref, message);
    this.chat = withMessage(this.chat, message);
    this.exchanges.push({ key: message.messageId, request, frames: [] });
    await this.readAnswer(async (signal) => {
      try {
        for await (const frame of streamExchange(request, signal)) this.takeFrame(frame);
      } catch (error) {
        if (!this.isTaskStillRunning(error)) throw error;
      }
      await this.readRest();
    });
  }

  /** Cancels the running Task. For a remote agent it only stops reading the answer. Never rejects. */
  async cancelRunningTask(): Promise<void> {
    const { taskId } = this.chat;
    if (this.ref.kind === 'remote' || taskId === undefined) return this.stopReading();
    await callAgent(baseOf(this.ref.path), 'CancelTask', { id: taskId }).catch((error: unknown) => {
      this.error = sentenceOf(error);
      this.publishView();
    });
  }

  /** Stops reading the answer; the Task continues. */
  stopReading(): void {
    this.reading.abort();
  }

  /** Drops the chat and starts a new one in a new context. */
  startNewContext(): void {
    this.stopReading();
    this.chat = EMPTY_CHAT;
    this.exchanges = [];
    this.error = undefined;
    this.publishView();
  }

  private async readAnswer(answer: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const reading = new AbortController();
    this.reading = reading;
    this.busy = true;
    this.error = undefined;
    this.publishView();
    try {
      await answer(reading.signal);
    } catch (error) {
      if (!reading.signal.aborted) this.error = brokenSentence(error);
    }
    if (this.reading === reading) this.busy = false;
    this.publishView();
  }

  /**
   * True if the stream of a Task of this service broke while the Task was running. The caller then reads the rest from
   * the Task's log. False if the service refused the request, and for a remote agent.
   */
  private isTaskStillRunning(error: unknown): boolean {
    const refused = error instanceof ApiProblem && error.status !== 0;
    return !refused && this.ref.kind === 'served' && isAtWork(this.chat);
  }

  /** Reads the rest of a Task of this service after its stream broke. */
  private async readRest(): Promise<void> {
    const { reading, ref } = this;
    const { taskId } = this.chat;
    if (reading.signal.aborted || ref.kind === 'remote' || taskId === undefined || !isAtWork(this.chat)) return;
    const onEvent = (sequence: number, item: A2aStreamItem): void => {
      this.takeFrame({ sequence, json: item, item });
      if (!isAtWork(this.chat)) reading.abort();
    };
    const last = this.exchanges.at(-1)?.frames.at(-1)?.sequence ?? 0;
    await followTaskLog(baseOf(ref.path), taskId, last, { onEvent, onConnection: () => undefined }, reading.signal);
  }

  private takeFrame(frame: ExchangeFrame): void {
    this.exchanges.at(-1)?.frames.push(frame);
    if (frame.item) this.chat = withAnswer(this.chat, frame.item);
    if (frame.error !== undefined) this.error = frame.error;
    this.timer ??= setTimeout(() => this.publishView(), GATHER);
  }

  private publishView(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const exchanges = this.exchanges.map(({ frames, ...rest }) => ({ ...rest, frames: [...frames] }));
    this.shown = { chat: this.chat, exchanges, busy: this.busy, error: this.error };
    for (const listener of this.listeners) listener();
  }
}
