import type { AgentExecutor, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { ConfigProblems } from './config-problems.js';
import { NodeExecutor, type NodeWork } from './node-executor.js';
import { typedParts } from './result-parts.js';

/** `input`: its output is the run's input, which its Message carries (row K2). */
export class InputNode implements NodeType {
  readonly name = 'input';
  readonly keys = ['schema', 'default', 'optional'];

  problems(): string[] {
    return [];
  }

  executor(node: NodeSpec): AgentExecutor {
    return new EchoingExecutor(node);
  }
}

/** `output`: its output is the run's result, which its Message carries. */
export class OutputNode implements NodeType {
  readonly name = 'output';
  readonly keys = ['prompt'];

  problems(node: NodeSpec): string[] {
    return new ConfigProblems(node).strings('prompt').found;
  }

  executor(node: NodeSpec): AgentExecutor {
    return new EchoingExecutor(node);
  }
}

class EchoingExecutor extends NodeExecutor {
  override readonly recovery = 'restart';

  // oxlint-disable-next-line require-yield -- it has no events of its own
  protected override async *work({ userMessage }: RequestContext): NodeWork {
    return typedParts(userMessage.parts);
  }
}
