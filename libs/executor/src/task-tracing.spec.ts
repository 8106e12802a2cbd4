import { type JsonObject, statusUpdate, submittedTask, userMessage } from '#libs/protocol';
import type { TaskEvent, TaskStore } from '#libs/tasks';
import type { Span, Tracing, TurnTrace } from '#libs/tracing';
import { TaskTracing } from './task-tracing.js';

type Agent = Parameters<TaskTracing['traceTurn']>[0];
type AskedFor = Parameters<Tracing['traceTurn']>[0];

const TASK = { taskId: 'task-1', contextId: 'context-1' };
const traced = (digit: string): JsonObject => ({ traceparent: `00-${digit.repeat(32)}-${'5'.repeat(16)}-00` });
const working = statusUpdate(TASK, 'TASK_STATE_WORKING');

/** Creates a fake tracing service that samples all turns or none. It records its calls and the exported spans. */
function stage({ sampled }: { sampled: boolean }) {
  const asked: AskedFor[] = [];
  const exported: Span[][] = [];
  const read: TaskEvent[] = [];
  const trace = { traceId: 'a'.repeat(32), spanId: 'turn', sampled, spanIdOf: () => 'id' } as unknown as TurnTrace;
  const tracing = {
    traceTurn: (turn: AskedFor) => {
      asked.push(turn);
      return trace;
    },
    exportSpans: (spans: Span[]) => void exported.push(spans),
  } as unknown as Tracing;
  const spanSteps = (event: TaskEvent): [] => {
    read.push(event);
    return [];
  };
  const agent = { path: 'workflows/tea', executor: { spanSteps } } as unknown as Agent;
  const begin = (metadata: JsonObject | undefined, first: TaskEvent) =>
    new TaskTracing(tracing, {} as TaskStore).traceTurn(agent, { task: TASK, metadata, began: 1, events: [first] });
  return { begin, asked, exported, read, trace };
}

const opening = (metadata?: JsonObject): TaskEvent => ({ task: submittedTask(TASK, userMessage('tea'), metadata) });

describe('TaskTracing', () => {
  it('makes the spans of a turn that is sampled from each of its events', () => {
    const { begin, exported, read } = stage({ sampled: true });
    const turn = begin(undefined, opening());
    turn?.traceEvent(working);
    turn?.exportSpans();
    expect({ read: read.length, exported: exported.map((spans) => spans.map(({ name }) => name)) }).toEqual({
      read: 2,
      exported: [['invoke_agent tea']],
    });
  });

  it('reads nothing of one that is not, and hands its trace on', () => {
    const { begin, exported, read, trace } = stage({ sampled: false });
    const turn = begin(undefined, opening());
    turn?.traceEvent(working);
    turn?.exportSpans();
    expect({ read, exported, trace: turn?.trace }).toEqual({ read: [], exported: [], trace });
  });

  it('takes the trace of what begins the turn, else that of what made the Task', () => {
    const { begin, asked } = stage({ sampled: false });
    begin(traced('b'), opening(traced('c')));
    begin(traced('b'), working);
    begin(undefined, working);
    expect(asked.map(({ parent }) => parent?.traceId)).toEqual(['c'.repeat(32), 'b'.repeat(32), undefined]);
  });
});
