import type { AgentExecutor, ServedAgent } from '#libs/executor';
import type { AgentArguments } from './arguments.js';

const MODES = ['text/plain', 'application/json'];

/** The agent of this process, as its card shows it: one skill, at the A2A root. */
export function servedAgent(wanted: AgentArguments, executor: AgentExecutor): ServedAgent {
  const { name, description } = wanted;
  const tags = tagsOf(wanted);
  const { inputModes = MODES, outputModes = MODES, capabilities } = executor.declares ?? {};
  return {
    path: '',
    name,
    description,
    version: '0.1.0',
    skills: [{ id: name, name, description, tags }],
    inputModes,
    outputModes,
    ...(capabilities && { capabilities }),
    executor,
  };
}

function tagsOf({ script, order, role }: AgentArguments): string[] {
  if (order) return ['orders'];
  if (role !== undefined) return ['brainstorm', role];
  return [script === undefined ? 'model' : 'scripted'];
}
