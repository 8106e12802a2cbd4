import type { JsonObject } from '#libs/protocol';
import { external, type Workflow } from '../../support/workflow.js';

/** Node of a workflow, with any members of the language. */
type Node = { id: string; type: string; config?: JsonObject; [key: string]: unknown };
type Edge = { from: string; to: string; [key: string]: unknown };

/** Creates a node that calls a remote agent with a text that contains the node's id and the name of the run. */
function called(url: string, id: string, keys: object = {}, said = id): Node {
  return { ...external(id, url, { prompt: `${said} of {{in}}` }), ...keys };
}

function set(id: string, values: JsonObject, keys: object = {}): Node {
  return { id, type: 'set', config: { values }, ...keys };
}

function workflow(name: string, nodes: Node[], edges: Edge[], keys: object = {}): Workflow {
  return { name, nodes, edges, language: 2, ...keys } as unknown as Workflow;
}

const row = (...ids: string[]): Edge[] => ids.slice(1).map((to, index) => ({ from: ids[index] ?? '', to }));

/** Answers of the person to each node that asks, by the node's id. */
export const ANSWERS: Readonly<Record<string, JsonObject>> = {
  gate: { data: { decision: 'yes' } },
  child: { text: 'well' },
};

/**
 * Creates a workflow with a branch, a list whose entry is retried, a loop in a loop, a failure that is caught, a
 * timeout with a fallback, a join that cancels the rest, a run of another workflow that asks, a form, a question
 * without an answer, a wait, exit nodes, and a deadline that is met.
 * @param waits duration of the wait; for more than half a minute the run is parked
 */
export function everyConstruct(name: string, url: string, waits: string): Workflow {
  const agent = (id: string, keys: object = {}, said = id): Node => called(url, id, keys, said);
  const retry = { attempts: 3, on: ['server-error'], delay: '20ms' };
  const decision = { type: 'object', properties: { decision: { enum: ['yes', 'no'] } }, required: ['decision'] };
  const nodes: Node[] = [
    { id: 'in', type: 'input' },
    set('list', { items: '${[1, 2, 3]}' }, { branch: 'first' }),
    agent('m', { each: { items: 'nodes.list.data.items', concurrency: 2 }, retry }, 'entry ${item}'),
    agent('never'),
    agent('draft', {}, 'draft ${iteration}'),
    agent('polish', {}, 'polish ${iteration}'),
    set('review', { ok: '${iteration >= 2}' }),
    agent('bad'),
    agent('catcher', {}, 'caught ${nodes.bad.error.kind}'),
    agent('silent', { timeout: '300ms', fallback: { parts: [{ text: 'nobody spoke' }] } }),
    agent('quick'),
    agent('slow'),
    { id: 'race', type: 'set', config: { values: { won: true } }, join: { n: 1, cancelRest: true } },
    { id: 'child', type: 'workflow', config: { inputs: { in: '{{in}}' }, body: asking('inner', url) } },
    {
      id: 'gate',
      type: 'human',
      config: { prompt: 'Publish?', form: decision },
      onWait: { deadline: '1h', default: { decision: 'no' } },
    },
    {
      id: 'unheard',
      type: 'human',
      config: { prompt: 'Anybody?' },
      onWait: { deadline: '1s', default: 'nobody' },
    },
    { id: 'pause', type: 'wait', config: { for: waits } },
    {
      id: 'out',
      type: 'output',
      config: { prompt: '${nodes.m.data}, {{draft}}, {{polish}}, {{catcher}}, {{silent}}, {{child}}, {{unheard}}' },
    },
    agent('exit'),
  ];
  const edges = [
    ...['list', 'draft', 'bad', 'silent', 'quick', 'slow', 'child', 'gate', 'unheard', 'pause'].map((to) => ({
      from: 'in',
      to,
    })),
    { from: 'list', to: 'm', when: 'size(nodes.list.data.items) == 3' },
    { from: 'list', to: 'never' },
    ...row('draft', 'polish', 'review'),
    { from: 'polish', to: 'polish', loop: { max_iterations: 2 } },
    { from: 'review', to: 'draft', loop: { max_iterations: 5, exit_when: 'nodes.review.data.ok' } },
    { from: 'bad', to: 'catcher', on: 'failure', when: "error.kind == 'failed'" },
    { from: 'quick', to: 'race' },
    { from: 'slow', to: 'race' },
    { from: 'gate', to: 'out', when: "nodes.gate.data.decision == 'yes'" },
    ...['m', 'never', 'review', 'catcher', 'silent', 'race', 'child', 'unheard', 'pause'].map((from) => ({
      from,
      to: 'out',
    })),
  ];
  return workflow(name, nodes, edges, { onExit: [{ node: 'exit' }], deadline: '30m' });
}

/** Creates a workflow that calls an agent and asks a person. */
function asking(name: string, url: string): JsonObject {
  const nodes: Node[] = [
    { id: 'in', type: 'input' },
    called(url, 'within'),
    { id: 'well', type: 'human', config: { prompt: 'Well?' } },
    { id: 'answer', type: 'output', config: { prompt: '{{within}}, {{well}}' } },
  ];
  return workflow(name, nodes, row('in', 'within', 'well', 'answer')) as unknown as JsonObject;
}

/** Creates a workflow that fails the first time, after a loop and a list whose results a rerun reuses. */
export function failingOnce(name: string, url: string): Workflow {
  const nodes: Node[] = [
    { id: 'in', type: 'input' },
    called(url, 'm', { each: { items: '[1, 2]' } }, 'entry ${item}'),
    called(url, 'draft', {}, 'draft ${iteration}'),
    called(url, 'once'),
    { id: 'out', type: 'output', config: { prompt: '${nodes.m.data}, {{draft}}, {{once}}' } },
    called(url, 'exit'),
  ];
  const edges = [
    ...row('in', 'm', 'draft', 'once', 'out'),
    { from: 'draft', to: 'draft', loop: { max_iterations: 2 } },
  ];
  return workflow(name, nodes, edges, { onExit: [{ node: 'exit' }] });
}

/**
 * Creates a workflow that misses its deadline even on a fast machine, while an agent and a list are executing and a
 * person is asked.
 */
export function tooLate(name: string, url: string): Workflow {
  const nodes: Node[] = [
    { id: 'in', type: 'input' },
    called(url, 'slow'),
    called(url, 'm', { each: { items: '[1, 2]', concurrency: 1 } }, 'slow ${item}'),
    { id: 'unheard', type: 'human', config: { prompt: 'Anybody?' } },
    called(url, 'exit'),
  ];
  const edges = ['slow', 'm', 'unheard'].map((to) => ({ from: 'in', to }));
  return workflow(name, nodes, edges, { onExit: [{ node: 'exit', on: 'failure' }], deadline: '4s' });
}
