import { randomUUID } from 'node:crypto';
import type { StreamResponse, Task } from '#libs/protocol';
import type { RpcReply } from '../../support/a2a.js';
import { hasEnded, stateOf } from '../../support/stored-log.js';
import type { ClientLog, Told } from './client-log.js';
import { PersistentClient, rpcBody, TrialOver } from './persistent-client.js';
import type { Stage } from './stage.js';

const RUNNERS = 3;
const SLEEPERS = 3;
const READERS = 2;
const TALKERS = 2;
const CANCELERS = 2;
const THINKERS = 3;
const TURNS = 3;
/** Maximum number of events after which a reader drops its connection. */
const LONGEST_READ = 15;

/**
 * Clients that start runs, read streams, hold conversations, call a model and cancel, each as fast as it gets answers.
 */
export class Load {
  private readonly client: PersistentClient;
  private readonly over = new AbortController();
  private going = true;
  private runs = 0;
  private readonly done: Promise<unknown>;

  constructor(
    url: string,
    private readonly stage: Stage,
    private readonly log: ClientLog,
    messengers = 0,
  ) {
    this.client = new PersistentClient(url, log, this.over.signal);
    this.done = Promise.all([
      ...this.crew(RUNNERS, () => this.run(this.stage.run)),
      ...this.crew(SLEEPERS, () => this.run(this.stage.parked)),
      ...this.crew(READERS, () => this.read()),
      ...this.crew(TALKERS, () => this.talk()),
      ...this.crew(CANCELERS, () => this.cancel()),
      ...this.crew(THINKERS, () => this.think()),
      ...this.crew(messengers, () => this.say(), 0),
    ]);
  }

  /** Stops beginning new work; resolves when all begun work has ended, or after the given time. */
  async stop(withinMs: number): Promise<void> {
    this.going = false;
    const timer = setTimeout(() => this.over.abort(), withinMs);
    await this.done;
    clearTimeout(timer);
  }

  private crew(size: number, work: () => Promise<void>, pauseMs?: number): Promise<void>[] {
    return Array.from({ length: size }, async () => {
      while (this.going) {
        try {
          await work();
          await this.client.pause(pauseMs);
        } catch (error) {
          if (!(error instanceof TrialOver)) this.log.absurd.push((error as Error).message);
        }
      }
    });
  }

  private async run(workflow: string): Promise<void> {
    this.runs += 1;
    const runId = await this.client.startRun(workflow, { in: `run ${this.runs}` });
    const told = this.log.begin({ kind: 'run', taskId: runId });
    while (told.state === undefined) {
      const events = this.client.events<{ status?: string }>(
        `/api/runs/${runId}/events`,
        undefined,
        last(told),
        Infinity,
      );
      for await (const { sequence, event, data } of events) {
        told.seen.push({ sequence });
        if (event !== 'done') continue;
        told.state = `TASK_STATE_${data.status?.toUpperCase()}`;
        break;
      }
    }
  }

  private async read(): Promise<void> {
    const told = await this.begin('stream', this.stage.talkative);
    while (told.state === undefined) {
      const request = rpcBody('SubscribeToTask', { id: told.taskId });
      const cursor = last(told);
      const limit = 1 + Math.floor(Math.random() * LONGEST_READ);
      const events = this.client.events<RpcReply<StreamResponse>['body']>(
        `/a2a/${this.stage.talkative}`,
        request,
        cursor,
        limit,
      );
      for await (const { sequence, data } of events) {
        // The Task as it stood at the cursor begins the stream.
        if (sequence === cursor || data.result === undefined) continue;
        told.seen.push({ sequence, json: JSON.stringify(data.result) });
        const state = stateOf(data.result);
        if (state === undefined || !hasEnded({ state })) continue;
        told.state = state;
        break;
      }
    }
  }

  private async talk(): Promise<void> {
    const told = await this.begin('conversation', this.stage.patient);
    for (let turn = 2; turn <= TURNS; turn += 1) {
      const messageId = randomUUID();
      const task = await this.waiting(told);
      if (task.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw new Error(`Turn ${turn}: ${task.status.state}`);
      await this.client.answer(this.stage.patient, told.taskId, messageId, `turn ${turn}`);
      told.heard.push(messageId);
    }
    told.state = (await this.waiting(told)).status.state;
  }

  private async cancel(): Promise<void> {
    const told = await this.begin('cancel', this.stage.slow);
    await this.client.pause(Math.random() * 1_000);
    const { result, error } = await this.client.rpc<Task>(this.stage.slow, 'CancelTask', { id: told.taskId });
    if (result === undefined && error?.code !== -32002) throw new Error(`CancelTask: ${JSON.stringify(error)}`);
    told.state = (result ?? (await this.client.task(this.stage.slow, told.taskId))).status.state;
  }

  private async think(): Promise<void> {
    const told = await this.begin('thought', this.stage.thoughtful, `question ${randomUUID()}`);
    told.state = (await this.waiting(told, this.stage.thoughtful)).status.state;
  }

  private async say(): Promise<void> {
    const messageId = randomUUID();
    const task = await this.client.ask(this.stage.quick, messageId, 'hello?');
    this.log.begin({ kind: 'message', taskId: task.id, messageId }).state = task.status.state;
  }

  private async begin(kind: Told['kind'], path: string, text = 'turn 1'): Promise<Told> {
    const messageId = randomUUID();
    const { id } = await this.client.begin(path, messageId, text);
    return this.log.begin({ kind, taskId: id, messageId });
  }

  private async waiting({ taskId }: Told, path = this.stage.patient): Promise<Task> {
    for (;;) {
      const task = await this.client.task(path, taskId);
      if (!/WORKING|SUBMITTED/.test(task.status.state)) return task;
      await this.client.pause();
    }
  }
}

function last({ seen }: Told): number {
  return seen.at(-1)?.sequence ?? 0;
}
