import { Logger } from '@nestjs/common';
import { AgentCallError } from '#libs/a2a-client';
import { type CallFailure, type CallOutcome, isLeftWaiting } from '#libs/agent-calls';
import { A2A_ERRORS, redactedUrl } from '#libs/protocol';
import { type ChildEnding, readChildEnding } from './child-ending.js';
import { FailedExpression } from './expressions/failed-expression.js';
import type { NodeInstance } from './node-run.js';
import { InvalidOutput, OutputRules } from './output-rules.js';
import { askedOnAfter } from './refused-answer.js';
import type { WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

const logger = new Logger('RunCalls');

/** Facts about a run that decide what the end of a call means. */
interface JudgingRun {
  graph: WorkflowGraph;
  /** Maximum number of members and items in the JSON of a result. */
  jsonMembers: number;
}

/** Returns what the end of a node's call means for its run. */
export function judgeCallEnding(node: NodeInstance, url: string, outcome: CallOutcome, run: JudgingRun): ChildEnding {
  const definition = run.graph.node(node.id);
  if (outcome.kind === 'failed') {
    if (isAnswerTooLate(node, outcome.failure, run.graph)) return { kind: 'moved-on' };
    const ending = askedOnAfter(outcome.failure, node) ?? describeInternalFailure(node, url, outcome.failure);
    if (ending) return ending;
  }
  const ending = readChildEnding(definition, url, outcome);
  if (ending.kind === 'completed') return validateResult(definition, ending, run);
  const isLeft = ending.kind === 'failed' && node.type === 'external' && isLeftWaiting(outcome);
  return isLeft ? { ...ending, isLeft } : ending;
}

/** Returns the failure of a call whose Message could not be rendered. Logs any other internal failure. */
function describeInternalFailure(
  node: NodeInstance,
  url: string,
  { kind, cause }: CallFailure,
): ChildEnding | undefined {
  if (kind !== 'internal') return undefined;
  if (cause instanceof FailedExpression) return { kind: 'failed', error: cause.message, failure: 'expression' };
  logger.error({ err: cause, node: node.instance, url: redactedUrl(url) }, 'The call of a node failed');
  return undefined;
}

/** True if a local agent no longer takes the answer. Never in a plain definition, where this fails the node. */
function isAnswerTooLate({ type, answer }: NodeInstance, { cause }: CallFailure, graph: WorkflowGraph): boolean {
  if (answer === undefined || type === 'external' || graph.isPlain) return false;
  return cause instanceof AgentCallError && cause.code === A2A_ERRORS.UNSUPPORTED_OPERATION.code;
}

/** Applies the output rules of the definition. A result that violates them fails the node with `invalid-output`. */
function validateResult(
  definition: WorkflowNode,
  ending: Extract<ChildEnding, { kind: 'completed' }>,
  { jsonMembers }: JudgingRun,
): ChildEnding {
  try {
    return { ...ending, artifacts: OutputRules.forNode(definition).applyRules(ending.artifacts, jsonMembers) };
  } catch (error) {
    if (!(error instanceof InvalidOutput)) throw error;
    return { kind: 'failed', status: ending.status, error: error.message, failure: 'invalid-output' };
  }
}
