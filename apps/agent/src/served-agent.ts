import type { DefinedAgent } from '#libs/authoring';
import type { AgentExecutor, NodeSpec, ServedAgent } from '#libs/executor';
import { DefinedExecutor } from '#libs/nodes';
import type { AgentMaker } from './agent.module.js';
import type { AgentArguments } from './arguments.js';
import { CallLog } from './call-log.js';
import { LoggedExecutor } from './logged-executor.js';
import { RoleAgent } from './role-agent.js';

const MODES = ['text/plain', 'application/json'];

/** Returns the agent of this process as its card shows it: one skill, at the A2A root. */
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

/**
 * Returns the maker of the agent that a command line describes. @param node node that does its work, unless it has a
 * role
 */
export function commandLineAgent(wanted: AgentArguments, node: NodeSpec): AgentMaker {
  return ({ types, models }) => {
    const executor = wanted.role ? new RoleAgent(wanted.role, models) : types.createExecutor(node);
    return servedAgent(wanted, new LoggedExecutor(executor, new CallLog(wanted.callLog)));
  };
}

/** Returns the maker of a defined agent. */
export function definedAgent(agent: DefinedAgent): AgentMaker {
  const { name, description = `The agent ${name}`, version = '0.1.0', skills, inputModes, outputModes } = agent;
  const own = [{ id: name, name, description, tags: ['defined'] }];
  return ({ secrets }) => ({
    path: '',
    name,
    description,
    version,
    skills: skills?.map((skill) => ({ tags: [], ...skill })) ?? own,
    inputModes: inputModes ?? MODES,
    outputModes: outputModes ?? MODES,
    executor: new DefinedExecutor(agent, secrets),
  });
}

function tagsOf({ script, order, role }: AgentArguments): string[] {
  if (order) return ['orders'];
  if (role !== undefined) return ['brainstorm', role];
  return [script === undefined ? 'model' : 'scripted'];
}
