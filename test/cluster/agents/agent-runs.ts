import type { Run, Workflow } from '../../support/workflow.js';
import { echo, input, linear, output } from '../../support/workflow.js';
import type { Scenario } from '../events/scenarios.js';
import { startOnce } from '../events/scenarios.js';

/** Id of the node whose agent has the tools. */
export const AGENT = 'agent';

function define(workflow: string): Workflow {
  const agent = echo(AGENT, { prompt: '{{in}}', tools: ['web/*', 'files/*'] });
  return linear(workflow, input('in'), agent, output('out'));
}

/** Returns the outcome of a run, without the name of its workflow. */
function outcome({ status, error, inputs, state }: Run): unknown {
  const about = String(inputs['in']);
  return { status, error, texts: [AGENT, 'out'].map((id) => String(state[id]).replaceAll(about, 'it')) };
}

/** Scenarios with the same run: one kills at the events of its agent, the other at the run's own events. */
export const AGENT_RUNS: readonly Scenario[] = [
  { name: 'agent', define, watched: (workflow) => `workflows/${workflow}/nodes/${AGENT}`, begin: startOnce, outcome },
  { name: 'run', define, watched: (workflow) => `workflows/${workflow}`, begin: startOnce, outcome },
];
