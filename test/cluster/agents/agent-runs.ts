import type { Run, Workflow } from '../../support/workflow.js';
import { echo, input, linear, output } from '../../support/workflow.js';
import type { Scenario } from '../events/scenarios.js';
import { startOnce } from '../events/scenarios.js';

/** The node whose agent has the tools. */
export const AGENT = 'agent';

function define(workflow: string): Workflow {
  const agent = echo(AGENT, { prompt: '{{in}}', tools: ['web/*', 'files/*'] });
  return linear(workflow, input('in'), agent, output('out'));
}

/** What came of the run, without what it is called. */
function outcome({ status, error, inputs, state }: Run): unknown {
  const about = String(inputs['in']);
  return { status, error, texts: [AGENT, 'out'].map((id) => String(state[id]).replaceAll(about, 'it')) };
}

/** The same run twice: killed at the events of its agent, and at its own. */
export const AGENT_RUNS: readonly Scenario[] = [
  { name: 'agent', define, watched: (workflow) => `workflows/${workflow}/nodes/${AGENT}`, begin: startOnce, outcome },
  { name: 'run', define, watched: (workflow) => `workflows/${workflow}`, begin: startOnce, outcome },
];
