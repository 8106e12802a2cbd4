import type { JsonObject } from '#libs/protocol';
import type { FakeCall } from '../../support/fake-agent.js';
import { answers, ends, type FakeBehaviour } from '../../support/fake-behaviour.js';
import { external, input, output, ruled, type Workflow, type WorkflowNode } from '../../support/workflow.js';

/** What the dumps have in place of the agent's address. */
export const AGENT = 'http://127.0.0.1:9';

type Keys = Record<string, unknown>;

function called(id: string, prompt: string, keys: Keys = {}): WorkflowNode {
  return { ...external(id, AGENT, { prompt }), ...keys };
}

function row(name: string, nodes: WorkflowNode[], keys: Keys = {}, edges: Keys[] = []): Workflow {
  const forward = nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]?.id, to: id }));
  return { name, nodes, edges: [...forward, ...edges], ...keys } as unknown as Workflow;
}

const ask = ruled('q', [
  { when: { turn: 1 }, steps: [{ ask: 'Well?' }] },
  { when: { turn: 2 }, steps: [{ artifact: { parts: [{ text: 'said {{text}}' }] } }, { complete: 'done' }] },
]);
const after = (id: string): WorkflowNode => called('after', `after {{${id}}}`);
const form: JsonObject = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const human = { id: 'gate', type: 'human', config: { prompt: 'Publish?', form } };

/** Definitions of the version before the language, of which the dumps were made. @public */
export const PLAIN: readonly Workflow[] = [
  row('plain', [input('in'), called('a', 'a {{in}}'), called('b', 'b {{in}}'), output('out')]),
  row('asks', [input('in'), called('a', 'a {{in}}'), ask, after('q'), output('out')]),
  {
    name: 'continues',
    nodes: [input('in'), called('x', 'x {{in}}'), called('y', 'b {{in}}'), output('lost'), output('kept')],
    edges: [
      { from: 'in', to: 'x' },
      { from: 'in', to: 'y' },
      { from: 'x', to: 'lost' },
      { from: 'y', to: 'kept' },
    ],
    onFailure: 'continue',
  },
];

/** Definitions that a later version had as well. @public */
export const LANGUAGE: readonly Workflow[] = [
  row(
    'loop',
    [
      input('in'),
      called('draft', 'draft ${iteration} {{in}}'),
      called('review', 'review ${iteration} {{in}}'),
      output('out'),
    ],
    { language: 2 },
    [{ from: 'review', to: 'draft', loop: { max_iterations: 5, exit_when: "nodes.review.text.contains('review 3')" } }],
  ),
  row('parked', [input('in'), { id: 'nap', type: 'wait', config: { for: '40s' } }, after('in'), output('out')]),
  row('gate', [input('in'), human, called('after', 'after {{in}}'), output('out')]),
  row(
    'list',
    [input('in'), called('m', 'item ${item} {{in}}', { each: { items: '[1, 2, 3]', concurrency: 1 } }), output('out')],
    { language: 2 },
  ),
  row('retried', [
    input('in'),
    called('r', 'r {{in}}', { retry: { attempts: 2, on: ['server-error'], delay: '40s', jitter: 0 } }),
    output('out'),
  ]),
  row('child', [
    input('in'),
    {
      id: 'inner',
      type: 'workflow',
      config: {
        body: row('inner', [input('in'), human, output('said')]) as unknown as JsonObject,
        inputs: { in: '{{in}}' },
      },
    },
    after('in'),
    output('out'),
  ]),
];

/**
 * The agent of all of them.
 * @param holds it does not answer what a run is killed at
 */
export function behaviour(holds: boolean): (call: FakeCall, index: number) => FakeBehaviour {
  return ({ text = '' }) => {
    if (holds && /^(b|review 2|item 2) held/.test(text)) return { hang: true };
    if (holds && text === 'r held') return { httpStatus: 503 };
    return text.startsWith('x ') ? ends('TASK_STATE_FAILED', 'no') : answers(`did ${text}`);
  };
}
