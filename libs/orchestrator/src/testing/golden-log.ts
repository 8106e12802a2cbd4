import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskEvent } from '#libs/tasks';
import { planNext } from '../plan-next.js';
import { RunState } from '../run-state.js';
import { runView } from '../run-view.js';
import type { WorkflowDefinition } from '../workflow.js';
import { InvalidWorkflow, WorkflowGraph } from '../workflow-graph.js';

/** A log of a run, with what each event of it changed in what the log folds to. */
export interface GoldenLog {
  definition: WorkflowDefinition;
  steps: GoldenStep[];
}

export interface GoldenStep {
  event: TaskEvent;
  /** By path, the values that are there now and were not; `null` where there is none any more. */
  changes: JsonObject;
}

/** The log as it would be if nothing of it depended on the time or on chance. */
export function timeless(log: readonly TaskEvent[]): TaskEvent[] {
  return log.map((event, index) => {
    const { jobs: _jobs, ...told } = event as { jobs?: unknown };
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
    const text = JSON.stringify(told, (key, value: JsonValue) => (key === 'timestamp' ? at : value));
    const copy = JSON.parse(text) as TaskEvent;
    const said = 'statusUpdate' in copy ? copy.statusUpdate.status.message : undefined;
    if (said) said.messageId = `said-${index}`;
    return copy;
  });
}

/** Folds every beginning of a log. */
export function goldenLog(definition: WorkflowDefinition, log: readonly TaskEvent[]): GoldenLog {
  let before: JsonValue = {};
  const steps = log.map((event, index) => {
    const after = folded(definition, log.slice(0, index + 1));
    const step = { event, changes: Object.fromEntries(changes(before, after)) };
    before = after;
    return step;
  });
  return { definition, steps };
}

/** What a log folds to: the plan, what a run is shown as, and what is shown of it nowhere. */
export function folded(definition: WorkflowDefinition, events: readonly TaskEvent[]): JsonObject {
  const state = RunState.of(definition, events);
  return plain({ plan: planOf(state), hidden: hiddenOf(state), view: viewOf(definition, events) });
}

/** @param state that of a log, however it came to be */
export function hiddenOf(state: RunState): unknown {
  const { text, received, begunBy, undelivered, failureTold, size } = state;
  const nodes = [...state.nodes.values()].map(({ id, contextId, messageId, question, wantsAuth, answer }) => [
    id,
    { contextId, messageId, question, wantsAuth, answer: answer?.messageId },
  ]);
  const run = { text, received: received?.messageId, begunBy, undelivered, failureTold, size };
  return { ...run, nodes: Object.fromEntries(nodes) as unknown };
}

/** `undefined` where the definition is no DAG. */
export function planOf(state: RunState): unknown {
  try {
    return planNext(WorkflowGraph.build(state.definition), state);
  } catch (error) {
    if (error instanceof InvalidWorkflow) return undefined;
    throw error;
  }
}

export function readGoldenLog(name: string): GoldenLog {
  const [first = '', ...rest] = readFileSync(fileOf(name), 'utf8').trimEnd().split('\n');
  return {
    definition: JSON.parse(first) as WorkflowDefinition,
    steps: rest.map((line) => JSON.parse(line) as GoldenStep),
  };
}

export function writeGoldenLog(name: string, { definition, steps }: GoldenLog): void {
  writeFileSync(fileOf(name), [definition, ...steps].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function fileOf(name: string): string {
  return join(import.meta.dirname, 'golden', `${name}.jsonl`);
}

function viewOf(definition: WorkflowDefinition, events: readonly TaskEvent[]): unknown {
  const header = {
    taskId: 'run-1',
    contextId: 'context-1',
    ...ANONYMOUS_SCOPE,
    agent: `workflows/${definition.name}`,
    state: 'TASK_STATE_WORKING' as const,
    lastSequence: events.length,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  return runView({ header, definition, events, baseUrl: 'http://own' });
}

function changes(before: JsonValue | undefined, after: JsonValue | undefined, path = ''): [string, JsonValue][] {
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changes(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[path, after ?? null]];
}

function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
