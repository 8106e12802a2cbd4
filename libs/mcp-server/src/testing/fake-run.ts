import type { RequestHandler } from '#libs/a2a-server';
import type { ServedAgent } from '#libs/agents';
import {
  agentMessage,
  type FieldViolation,
  type JsonValue,
  type Message,
  statusUpdate,
  type Task,
  type TaskState,
} from '#libs/protocol';
import type { StoredTask } from '#libs/tasks';
import type { McpBackend } from '../exchange.js';

const reference = { taskId: 't', contextId: 'c' };

export const RUN_AGENT = {
  path: 'workflows/w',
  name: 'w',
  version: '1',
  details: async () => ({
    skills: [{ id: 'w', name: 'w', description: 'Works', tags: [] }],
    schemas: { w: { input: {}, artifacts: [] } },
  }),
} as unknown as ServedAgent;

export const RUN_SCOPE = { tenant: '', owner: 'ann' };
/** Time when the question was asked. */
export const ASKED_AT = new Date('2026-11-01T10:00:00Z');

/** Run whose Task goes through the states that the test sets. */
export class FakeRun {
  state: TaskState = 'TASK_STATE_SUBMITTED';
  sequence = 1;
  readonly sent: Message[] = [];
  /** Errors with which the next Messages are refused, one error for each Message. */
  readonly refusals: Error[] = [];
  /** Violations of the previous answer, which the question names. */
  violations: FieldViolation[] | undefined;
  /** Time when the open question was asked. */
  askedAt = ASKED_AT;
  /** True if another answer makes the Task continue right before its questions are listed. */
  goesOn = false;
  private readonly states: TaskState[] = [];
  private wake = Promise.withResolvers<void>();

  constructor(private readonly refusal?: Error) {}

  becomes(...states: TaskState[]): this {
    this.states.push(...states);
    this.wake.resolve();
    return this;
  }

  get stored(): StoredTask {
    const { state, sequence: lastSequence } = this;
    const status = { state, message: agentMessage(reference, `It is ${state}`) };
    const header = { ...reference, ...RUN_SCOPE, agent: RUN_AGENT.path, state, lastSequence };
    return {
      task: { id: 't', contextId: 'c', status },
      header: { ...header, createdAt: ASKED_AT, updatedAt: ASKED_AT },
    };
  }

  async *items(signal: AbortSignal | undefined) {
    if (this.refusal) throw this.refusal;
    const left = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    yield { sequence: this.sequence, json: '', response: { task: this.stored.task } };
    while (!signal?.aborted) {
      const state = this.states.shift();
      if (state === undefined) {
        this.wake = Promise.withResolvers();
        await Promise.race([this.wake.promise, left]);
        continue;
      }
      this.state = state;
      this.sequence += 1;
      yield { sequence: this.sequence, json: '', response: statusUpdate(reference, state, `It is ${state}`) };
    }
  }

  get backend(): McpBackend {
    const handler = {
      resolveAgent: async (): Promise<ServedAgent> => {
        if (this.refusal) throw this.refusal;
        return RUN_AGENT;
      },
      getTask: async (): Promise<Task> => this.stored.task,
      sendMessage: async (_agent: unknown, { message }: { message: Message }): Promise<void> => {
        const refusal = this.refusals.shift();
        if (refusal) throw refusal;
        this.sent.push(message);
      },
      subscribeToTask: (_agent: unknown, _request: unknown, _call: unknown, { signal }: { signal: AbortSignal }) =>
        this.items(signal),
      sendStreamingMessage: (
        _agent: unknown,
        { message }: { message: Message },
        _call: unknown,
        signal: AbortSignal,
      ) => {
        this.sent.push(message);
        return this.items(signal);
      },
    } as unknown as RequestHandler;
    const tasks = { readHeader: async () => this.stored.header, loadTask: async () => this.stored };
    const list = async () => {
      const { violations, askedAt } = this;
      const open = { taskId: 't', agent: RUN_AGENT.path, key: 'q', since: askedAt };
      const body = { text: 'Which?', ...(violations && { violations: violations as unknown as JsonValue }) };
      if (!this.goesOn) return [{ ...open, body }];
      [this.goesOn, this.state, this.sequence] = [false, 'TASK_STATE_WORKING', this.sequence + 1];
      return [];
    };
    return { handler, tasks, questions: { listQuestions: list }, agents: { findSource: () => undefined } };
  }
}
