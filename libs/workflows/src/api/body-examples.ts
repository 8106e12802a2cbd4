/**
 * Example request bodies for the API documentation. The service accepts each of them if they are sent in this order.
 */

const GREETING = {
  name: 'greeting',
  description: 'Greets a person by name.',
  nodes: [
    { id: 'name', type: 'input' },
    { id: 'writer', type: 'agent', config: { prompt: 'Good day, {{name}}!' } },
    { id: 'result', type: 'output', config: { prompt: '{{writer}}' } },
  ],
  edges: [
    { from: 'name', to: 'writer' },
    { from: 'writer', to: 'result' },
  ],
};

const PUBLISH = {
  name: 'publish',
  nodes: [
    { id: 'gate', type: 'human', config: { prompt: 'Shall it be published?' } },
    { id: 'out', type: 'output' },
  ],
  edges: [{ from: 'gate', to: 'out' }],
};

export const WORKFLOW_EXAMPLES = { greeting: { value: GREETING } };

export const APPLY_EXAMPLES = {
  'two agents': {
    value: {
      workflows: ['poet', 'critic'].map((name) => ({
        definition: { name, nodes: [{ id: 'writer', type: 'agent', config: { system_prompt: `You are a ${name}.` } }] },
      })),
      mark: 'team-a/workflows',
    },
  },
};

export const EXPRESSION_EXAMPLES = {
  expression: {
    value: { expression: "nodes.gate.data.decision == 'yes'", definition: PUBLISH, path: 'edges[0].when' },
  },
  template: {
    value: {
      template: 'Decided: ${nodes.gate.text}',
      definition: { ...PUBLISH, language: 2 },
      path: 'nodes[1].config.prompt',
    },
  },
};

export const RERUN_EXAMPLES = {
  'from a node on': { value: { from: ['writer'] } },
  'with an edited prompt': { value: { edit: { node: 'writer', prompt: 'Write two sentences about tea.' } } },
};
