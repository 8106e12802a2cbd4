import type { AgentExecutor, NodeSpec, NodeType } from '#libs/executor';
import { scriptProblems } from './script/parse-script.js';
import { ScriptedAgent } from './script/scripted-agent.js';

/** `script`: a scripted agent. */
export class ScriptNode implements NodeType {
  readonly name = 'script';

  problems(node: NodeSpec): string[] {
    return scriptProblems(node.config.script).map((problem) => `script node "${node.id}": ${problem}`);
  }

  executor(node: NodeSpec): AgentExecutor {
    return new ScriptedAgent(node.config.script);
  }
}
