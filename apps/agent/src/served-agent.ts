import type { AgentExecutor, ServedAgent } from '#libs/executor';
import type { AgentArguments } from './arguments.js';

/** The agent of this process, as its card shows it: one skill, at the A2A root. */
export function servedAgent(wanted: AgentArguments, executor: AgentExecutor): ServedAgent {
  const { name, description, script, order } = wanted;
  const tags = [order ? 'orders' : script === undefined ? 'model' : 'scripted'];
  return {
    path: '',
    name,
    description,
    version: '0.1.0',
    skills: [{ id: name, name, description, tags }],
    inputModes: ['text/plain', 'application/json'],
    outputModes: ['text/plain', 'application/json'],
    executor,
  };
}
