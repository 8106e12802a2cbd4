import { type AgentExecutor, NodeTypes } from '#libs/agents';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { readDefinition } from '../sent-definition.js';
import type { WorkflowProblem } from '../workflow-problem.js';
import { workflowProblems } from '../workflow-problems.js';

export class AllTypes extends NodeTypes {
  readonly names = ['input', 'agent', 'output', 'set', 'wait', 'human', 'workflow'];
  createExecutor(): AgentExecutor {
    throw new Error('none');
  }
  findProblems(): string[] {
    return [];
  }
}

/**
 * Valid definition with the nodes topic → draft → gate → out, a loop of draft and gate, and the `onExit` node `notify`.
 */
export const GOOD: JsonObject = {
  name: 'w',
  language: 2,
  nodes: [
    { id: 'topic', type: 'input' },
    { id: 'draft', type: 'agent', config: { prompt: '{{topic}}' } },
    { id: 'gate', type: 'human', config: { form: { type: 'object', required: ['ok'] } } },
    { id: 'out', type: 'output', config: { prompt: '{{draft}}' } },
    { id: 'notify', type: 'agent', config: { prompt: 'done' } },
  ],
  edges: [
    { from: 'topic', to: 'draft' },
    { from: 'draft', to: 'gate' },
    { from: 'gate', to: 'draft', loop: { max_iterations: 3, exit_when: 'nodes.gate.data.ok' } },
    { from: 'gate', to: 'out' },
  ],
  onExit: [{ node: 'notify' }],
};

/** Returns a copy of `GOOD` in which these members are added to the object at a path. */
export function having(path: string, members: JsonObject): JsonObject {
  const copy = structuredClone(GOOD);
  const keys = path === '' ? [] : path.split('.');
  const holder = keys.reduce<JsonValue>((at, key) => (at as JsonObject)[key] ?? null, copy);
  Object.assign(holder as JsonObject, members);
  return copy;
}

export function problemsOf(sent: JsonObject): WorkflowProblem[] {
  const definition = readDefinition(sent);
  return Array.isArray(definition) ? definition : workflowProblems(definition, new AllTypes());
}

export type Found = [code: string, path: string, offset?: number];

export function codesOf(sent: JsonObject, severity: WorkflowProblem['severity'] = 'error'): Found[] {
  return problemsOf(sent)
    .filter((it) => it.severity === severity)
    .map(({ code, path, offset }) => (offset === undefined ? [code, path] : [code, path, offset]));
}

export const edge = (from: string, to: string, more: JsonObject = {}): JsonObject => ({ from, to, ...more });
export const agent = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'agent',
  config: { prompt: 'x' },
  ...more,
});
