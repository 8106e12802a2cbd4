import { Logger } from '@nestjs/common';
import { AgentExecutor, type RequestContext } from '#libs/agents';
import { ContentTooLarge, statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent, TaskRecording } from '#libs/tasks';
import { TaskExecution } from './task-execution.js';

Logger.overrideLogger(false);

const TASK = { taskId: 't', contextId: 'c' };

/** Executor that asks a question, and records the state of its context when its generator is closed. */
class Asking extends AgentExecutor {
  learned: unknown;

  override async *execute({ isRefused, signal }: RequestContext): AsyncGenerator<TaskEvent> {
    try {
      yield statusUpdate(TASK, 'TASK_STATE_INPUT_REQUIRED', 'Well?');
    } finally {
      this.learned = { isRefused: isRefused?.(), isAborted: signal.aborted };
    }
  }
}

async function executed(executor: AgentExecutor, refusal?: Error): Promise<string[]> {
  const states: string[] = [];
  const recording = {
    ...TASK,
    settled: false,
    lastSequence: 1,
    backlog: 0,
    backlogBytes: 0,
    toTask: () => ({}),
    flushEvents: async () => undefined,
    recordEvent(event: TaskEvent) {
      const state = 'statusUpdate' in event ? event.statusUpdate.status.state : '';
      if (refusal && state === 'TASK_STATE_INPUT_REQUIRED') throw refusal;
      states.push(state);
      this.settled = true;
      return { event };
    },
  };
  await new TaskExecution({
    executor,
    recording: recording as unknown as TaskRecording,
    call: { scope: { tenant: '', owner: '' }, agent: 'a', extensions: [], baseUrl: '' },
    userMessage: userMessage('x'),
    metadata: undefined,
    task: null,
    recovered: 0,
    acceptance: {} as never,
    readEvents: async () => [],
    confirm: async () => undefined,
  }).runToEnd();
  return states;
}

describe('an executor whose event ends the turn', () => {
  it('learns that the Task has refused it as too large, before anything is aborted', async () => {
    const executor = new Asking();
    const states = await executed(executor, ContentTooLarge.beyondLimit('the text', 7, 'TASK_LIMIT'));
    expect(states).toEqual(['TASK_STATE_FAILED']);
    expect(executor.learned).toEqual({ isRefused: true, isAborted: false });
  });

  it('learns of nothing where the Task has it', async () => {
    const executor = new Asking();
    expect(await executed(executor)).toEqual(['TASK_STATE_INPUT_REQUIRED']);
    expect(executor.learned).toEqual({ isRefused: false, isAborted: false });
  });
});
