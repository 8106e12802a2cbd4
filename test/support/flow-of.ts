import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '#libs/workflow-definition';

const SIGNS: Readonly<Record<string, Partial<WorkflowEdge>>> = {
  '?': { when: 'true' },
  '!': { on: 'failure' },
  '*': { on: 'always' },
};

/**
 * Creates a workflow from a text such as `a>b a>c`. `a>b?` is an edge with a condition, `a>b!` one for failures, `a>b*`
 * one for all outcomes, and `b>a@3` a loop of at most three iterations.
 */
export function flowOf(
  ids: string,
  edges: string,
  keys: Record<string, Partial<WorkflowNode>> = {},
  fields: Partial<WorkflowDefinition> = {},
): WorkflowDefinition {
  return {
    name: 'wf',
    nodes: ids.split(' ').map((id) => ({ id, type: 'agent', config: {}, ...keys[id] })),
    edges: edges
      .split(' ')
      .filter(Boolean)
      .map((text): WorkflowEdge => {
        const [, from = '', to = '', sign = '', most] = /^(\w+)>(\w+)([?!*]*)(?:@(\d+))?$/.exec(text) ?? [];
        const loop = most === undefined ? {} : { loop: { max_iterations: Number(most) } };
        return { from, to, ...Object.assign({}, ...[...sign].map((it) => SIGNS[it])), ...loop };
      }),
    ...fields,
  };
}
