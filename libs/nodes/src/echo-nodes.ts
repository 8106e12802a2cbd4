import type { AgentDeclaration, AgentExecutor, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { isJsonObject } from '#libs/protocol';
import { ConfigProblems } from './config-problems.js';
import { configSchema, DATA, PROMPT } from './config-schema.js';
import { NodeExecutor, type NodeWork } from './node-executor.js';
import { ANYTHING, typedParts } from './result-parts.js';

/** `input`: outputs the run's input, which is its Message. */
export class InputNode implements NodeType {
  readonly name = 'input';
  readonly configSchema = configSchema({
    schema: { type: 'object', description: 'The JSON Schema (draft 7) that the input has to fit.' },
    default: { description: 'The input where none is given; it has to fit the schema.' },
    optional: {
      type: 'boolean',
      description: 'true: a run begins without this input, and the node says an empty text.',
    },
  });

  findProblems(): NodeProblem[] {
    return [];
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new EchoingExecutor(node);
  }
}

/** `output`: outputs the run's result, which is its Message. */
export class OutputNode implements NodeType {
  readonly name = 'output';
  readonly configSchema = configSchema({
    prompt: PROMPT,
    data: DATA,
    schema: { type: 'object', description: 'The JSON Schema (draft 7) that the result has to fit.' },
  });

  findProblems(node: NodeSpec): NodeProblem[] {
    return new ConfigProblems(node).checkStrings('prompt').checkMember('schema', 'must be an object', isJsonObject)
      .found;
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new EchoingExecutor(node);
  }
}

/** Answers with the Parts of its Message, including files. */
class EchoingExecutor extends NodeExecutor {
  override readonly declares: AgentDeclaration = { inputModes: [...ANYTHING], outputModes: [...ANYTHING] };
  override readonly recovery = 'restart';
  override readonly isPure = true;

  // oxlint-disable-next-line require-yield -- it has no events of its own
  protected override async *performWork({ userMessage }: RequestContext): NodeWork {
    return typedParts(userMessage.parts);
  }
}
