import type { AgentExecutor, NodeProblem, NodeSpec, NodeType } from '#libs/executor';
import type { SharedUse } from '#libs/expressions';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { configSchema, DATA } from './config-schema.js';
import { NodeExecutor, type NodeWork } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import { InvalidScript, scriptProblems } from './script/parse-script.js';
import { SCRIPT_SCHEMA } from './script/script-schema.js';
import { ScriptedAgent } from './script/scripted-agent.js';

/** `script`: scripted agent. */
export class ScriptNode implements NodeType {
  readonly name = 'script';
  readonly configSchema = configSchema(
    {
      script: SCRIPT_SCHEMA,
      prompt: { description: 'What is said to the node. May have {{references}}.' },
      data: DATA,
    },
    ['script'],
  );

  constructor(private readonly limits: ContentLimits = DEFAULT_CONTENT_LIMITS) {}

  findProblems(node: NodeSpec, use?: SharedUse): NodeProblem[] {
    const problems = scriptProblems(node.config.script, this.limits, use);
    return problems.map((problem) => ({ path: 'config.script', detail: `script node "${node.id}": ${problem}` }));
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    try {
      return new ScriptedAgent(node.config.script, this.limits);
    } catch (error) {
      if (error instanceof InvalidScript) return new UnusableScript(node, error.message);
      throw error;
    }
  }
}

/** Fails for a script that was saved under other rules and is invalid now. */
class UnusableScript extends NodeExecutor {
  override readonly recovery = 'restart';

  constructor(
    node: NodeSpec,
    private readonly problem: string,
  ) {
    super(node);
  }

  // oxlint-disable-next-line require-yield -- there is nothing to do but to fail
  protected override async *performWork(): NodeWork {
    throw new NodeFailure(`the script cannot be used: ${this.problem}`);
  }
}
