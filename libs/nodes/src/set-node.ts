import type { AgentDeclaration, AgentExecutor, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { dataPart, TextBudget } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { SET_CONFIG, setProblems } from './flow-configs.js';
import { NodeExecutor, type NodeWork } from './node-executor.js';
import { filledIn } from './own-texts.js';

/** `set`: outputs its values. This executor serves the node's own URL; a run evaluates the values itself. */
export class SetNode implements NodeType {
  readonly name = 'set';
  readonly configSchema = SET_CONFIG;

  constructor(private readonly renderedText = DEFAULT_CONTENT_LIMITS.renderedText) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    return setProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new SetExecutor(node, this.renderedText);
  }
}

class SetExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration = {
    does: 'Answers with values that its workflow says.',
    outputModes: ['application/json'],
  };

  constructor(
    node: NodeSpec,
    private readonly renderedText: number,
  ) {
    super(node);
  }

  // oxlint-disable-next-line require-yield -- it has no events of its own
  protected override async *performWork({ userMessage }: RequestContext): NodeWork {
    return [
      dataPart(filledIn(this.node.config.values ?? {}, this.node, userMessage, new TextBudget(this.renderedText))),
    ];
  }
}
