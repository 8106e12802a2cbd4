import { setTimeout as delay } from 'node:timers/promises';
import { rpc } from '../cases/a2a-requests.ts';
import type { Acknowledgements } from './acknowledgements.ts';

const CALLERS = 24;
const ANSWER_WITHIN_MS = 15_000;
const RETRY_MS = 20;

interface TaskEvent {
  task?: { id: string; status: { state: string } };
  statusUpdate?: { taskId: string; status: { state: string } };
  artifactUpdate?: { taskId: string };
}

/** Callers that send Messages as fast as they get answers: in turn blocking, returning immediately, and streaming. */
export class Callers {
  private readonly url: string;
  private readonly log: Acknowledgements;
  private going = true;
  private sent = 0;
  private readonly done: Promise<unknown>;

  constructor(url: string, log: Acknowledgements) {
    this.url = url;
    this.log = log;
    this.done = Promise.all(Array.from({ length: CALLERS }, (_, index) => this.call(index)));
  }

  /** Resolves when every pending answer has arrived or has failed. */
  async stop(): Promise<void> {
    this.going = false;
    await this.done;
  }

  private async call(caller: number): Promise<void> {
    const ask = [this.blocking, this.immediate, this.streaming][caller % 3] ?? this.blocking;
    while (this.going) {
      try {
        await ask.call(this);
      } catch {
        this.log.refused += 1;
        await delay(RETRY_MS);
      }
    }
  }

  private async blocking(): Promise<void> {
    await this.single('SendMessage', {});
  }

  private async immediate(): Promise<void> {
    await this.single('SendMessage', { configuration: { returnImmediately: true } });
  }

  private async single(method: string, extra: object): Promise<void> {
    const answer = await this.post(method, extra);
    const { result } = (await answer.json()) as { result?: TaskEvent };
    if (!result?.task) throw new Error('No Task');
    this.log.task(result.task.id, result.task.status.state);
  }

  private async streaming(): Promise<void> {
    const answer = await this.post('SendStreamingMessage', {});
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of answer.body ?? []) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) this.read(frame);
    }
  }

  private read(frame: string): void {
    const id = /^id: ?(\d+)$/m.exec(frame)?.[1];
    const data = /^data: ?(.*)$/m.exec(frame)?.[1];
    if (id === undefined || data === undefined) return;
    const { result } = JSON.parse(data) as { result?: TaskEvent };
    const taskId = result?.task?.id ?? result?.statusUpdate?.taskId ?? result?.artifactUpdate?.taskId;
    const state = result?.task?.status.state ?? result?.statusUpdate?.status.state;
    if (taskId !== undefined) this.log.event(taskId, Number(id), state);
  }

  private async post(method: string, extra: object): Promise<Response> {
    this.sent += 1;
    const message = { messageId: `kill-${this.sent}`, role: 'ROLE_USER', parts: [{ text: 'keep this' }] };
    const { headers, body } = rpc('', method, { message, ...extra }, '');
    const answer = await fetch(this.url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (answer.status !== 200) throw new Error(`Status ${answer.status}`);
    return answer;
  }
}
