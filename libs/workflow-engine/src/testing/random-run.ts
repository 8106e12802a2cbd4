import { setImmediate as nextTurn } from 'node:timers/promises';
import { AgentCallError } from '#libs/a2a-client';
import { dataPart, isTerminalState, type TaskState, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '#libs/workflow-definition';
import { DrivenRun } from './driven-run.js';
import { FakeAgents, type FakeCall } from './fake-agents.js';
import { FakeClock } from './fake-clock.js';
import type { Fate } from './fate.js';

/** Returns a definition with random expressions (true, false or failing), texts, fallbacks and output rules. */
export function lively(definition: WorkflowDefinition, fate: Fate): WorkflowDefinition {
  const pick = <T>(question: string, of: readonly T[]): T => of[fate(question, of.length)] as T;
  const edges = definition.edges.map((edge, index): WorkflowEdge => {
    const { from, when, loop } = edge;
    const conditions = ['true', 'true', 'false', `nodes.${from}.attempts < 2`, `nodes.${from}.data.n > 1`];
    const exits = ['false', 'iteration > 1', `nodes.${from}.status == 'completed'`, `nodes.${from}.data.gone`];
    return {
      ...edge,
      ...(when !== undefined && { when: pick(`when ${index}`, conditions) }),
      ...(loop && {
        loop: { ...loop, exit_when: pick(`exit ${index}`, exits), ...pick(`max ${index}`, [{}, ON_MAX]) },
      }),
    };
  });
  const nodes = definition.nodes.map((node): WorkflowNode => {
    const { id, type, each } = node;
    const items = pick(`items ${id}`, ['[1, 2, 3]', '[7]', '[]', '[1, 2, 3, 4, 5]', "'no list'"]);
    const prompt = each ? '${index}: ${item}' : `\${nodes['${id}'].status}`;
    const config = type === 'set' ? SET : { ...node.config, ...(type === 'agent' && { prompt }) };
    return {
      ...node,
      config,
      ...(each && { each: { ...each, items } }),
      ...pick(`fallback ${id}`, [{}, {}, {}, FALLBACK]),
      ...pick(`output ${id}`, [{}, {}, {}, {}, OUTPUT]),
    };
  });
  return { ...definition, nodes, edges, language: 2 };
}

const SET = { values: { n: '${1 + 1}', text: 'a ${run.id}' } };
const ON_MAX = { on_max: 'fail' as const };
const FALLBACK = { fallback: { parts: [{ data: { n: 5, why: '${error.kind}' } }] } };
const OUTPUT = { output: { schema: { type: 'object' } } };

/**
 * Agents that answer, fail, ask, are slow or never answer. The choice depends only on the call, so it is reproducible.
 */
export class RandomAgents extends FakeAgents {
  /** Calls whose answer is delayed. */
  readonly slow: FakeCall[] = [];
  readonly silent: FakeCall[] = [];

  constructor(definition: WorkflowDefinition, fate: Fate) {
    super((call) => this.behaviour(definition, fate, call));
  }

  private behaviour({ nodes, deadline }: WorkflowDefinition, fate: Fate, call: FakeCall): void {
    const { attempt, request } = call;
    const [id] = attempt.split(/[@[#]/);
    const mayHang = deadline !== undefined || nodes.find((node) => node.id === id)?.timeout !== undefined;
    const kind = fate(attempt, 12);
    if (request?.message.taskId !== undefined || kind < 4) call.complete(dataPart({ n: fate(`n ${attempt}`, 4) }));
    else if (kind === 4) call.complete('a text');
    else if (kind === 5) call.finish('TASK_STATE_FAILED', 'boom');
    else if (kind === 6) call.finish('TASK_STATE_REJECTED', 'no');
    else if (kind === 7) call.throw(new AgentCallError('timeout', 'silent for 2 s'));
    else if (kind === 8) call.finish('TASK_STATE_INPUT_REQUIRED', 'which?');
    else if (kind === 9 && mayHang) this.silent.push(call.task());
    else this.slow.push(call.task());
  }
}

/** Number of turns of the event loop to wait before an event from outside happens. */
const TURNS = 10;
const MOST_ROUNDS = 2_000;

/** Options of `playOut`: how events from outside happen to a run. */
export interface Happening {
  fate: Fate;
  /** Called repeatedly with the number of events in the log. Return true to stop driving the run. */
  until?: (events: number) => boolean;
}

/**
 * Drives a run to its end, or until `until` returns true. Slow agents answer in any order, questions are answered, and
 * time passes.
 * @throws if the run waits and none of these can continue it
 */
export async function playOut(run: DrivenRun, { fate, until }: Happening): Promise<TaskState> {
  const agents = run.agents as RandomAgents;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const state = await settled(run.latest);
    if (state !== undefined && isTerminalState(state)) return state;
    if (until?.(run.log.length)) return run.task.status.state;
    const isFirst = fate(`order ${round}`, 2) === 0;
    if (state !== undefined) continueRun(run, fate, round);
    else if (agents.slow.length > 0) {
      const call = isFirst ? agents.slow.shift() : agents.slow.pop();
      call?.complete(dataPart({ n: fate(`n ${call.attempt}`, 4) }));
    } else if (run.clock.isAwaited) await run.clock.pass();
    else throw new Error(`The run waits for nothing: ${run.steps.slice(-5).join(', ')}`);
  }
  throw new Error(`The run has no end: ${run.steps.slice(-5).join(', ')}`);
}

/**
 * Returns the state of the Task at the end of a turn; `undefined` if the turn is still running and nothing else
 * happens.
 */
async function settled(turn: Promise<TaskState>): Promise<TaskState | undefined> {
  let state: TaskState | undefined;
  const ended = turn.then((it) => (state = it));
  for (let turns = 0; turns < TURNS && state === undefined; turns += 1) await Promise.race([nextTurn(), ended]);
  return state;
}

/** Continues a run whose turn has ended: answers a question, or wakes a run that only waits for a time. */
function continueRun(run: DrivenRun, fate: Fate, round: number): void {
  const [asking] = run.state.frontier.waiting;
  const until = wakesAt(run.log.at(-1));
  if (asking && (until === undefined || fate(`answer ${round}`, 2) === 0)) {
    const parts = [dataPart({ n: fate(`answered ${round}`, 4) })];
    void run.answer(userMessage(parts, { metadata: { node: asking.instance } }));
    return;
  }
  if (until === undefined) throw new Error('Nobody wakes the run');
  FakeClock.advance(Math.max(0, until.getTime() - Date.now()));
  void run.wake();
}

function wakesAt(event: TaskEvent | undefined): Date | undefined {
  return event && 'statusUpdate' in event ? event.parks : undefined;
}
