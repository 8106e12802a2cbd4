import { ContentTooLarge, TextBudget } from '#libs/protocol';
import type { ContentLimits } from '#libs/service';
import { FailedExpression } from './expressions/failed-expression.js';
import { nodeContent } from './node-message.js';
import type { NodeInstance } from './node-run.js';
import { ECHOES_IN_A_TASK, fittedInto, type NodeContent } from './passed-content.js';
import { answerParts } from './run-answer.js';
import type { RunEvaluation } from './run-evaluation.js';
import type { WorkflowGraph } from './workflow-graph.js';

const NO_CONTENT: NodeContent = { own: [], passed: [], leftOut: [] };

/** Builds the Messages to the nodes of one run, and limits their total size. */
export class RunContent {
  /** Characters that this execution has rendered for the run's nodes. */
  private rendered = 0;
  /** Characters of results that it has forwarded to other nodes as Parts. */
  private passed = 0;

  constructor(
    private readonly run: { graph: WorkflowGraph; evaluation: RunEvaluation },
    private readonly limits: ContentLimits,
  ) {}

  /**
   * Returns the content of the Message to a node; empty content with the fault if it exceeds a limit.
   * @param isLocal true if the agent is called in this process
   */
  fittedContent(
    node: NodeInstance,
    isLocal: boolean,
  ): { content: NodeContent; fault?: ContentTooLarge | FailedExpression } {
    const { graph, evaluation } = this.run;
    const { renderedText, task } = this.limits;
    if (node.answer) return { content: { ...NO_CONTENT, own: answerParts(node.answer, node) } };
    const budget = new TextBudget(renderedText);
    try {
      const content = nodeContent(graph.node(node.id), graph, evaluation.messageSource(node), budget);
      this.rendered += budget.spent;
      if (this.rendered > task)
        throw ContentTooLarge.beyondLimit('what was rendered for the nodes of the run', task, 'TASK_LIMIT');
      const fitted = fittedInto(this.roomFor(node, isLocal), content);
      this.passed += fitted.length;
      return { content: fitted };
    } catch (error) {
      if (error instanceof ContentTooLarge || error instanceof FailedExpression)
        return { content: NO_CONTENT, fault: error };
      throw error;
    }
  }

  /**
   * Returns the number of characters that a Message may have, including results of other nodes. The content of an
   * output node is stored in the run's own log once more. A remote call is limited by the size of its body.
   */
  private roomFor({ type }: NodeInstance, isLocal: boolean): number {
    const { artifact, renderedText, task } = this.limits;
    const share = task / ECHOES_IN_A_TASK;
    const ofRun = (type === 'output' ? share : task) - this.passed;
    return Math.min(isLocal ? Math.min(artifact, share) : renderedText, ofRun);
  }
}
