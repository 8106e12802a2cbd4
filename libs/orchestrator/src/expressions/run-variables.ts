import { Members, type Value, type Variables } from '#libs/expressions';
import { artifactReference, firstData, type JsonObject, type JsonValue } from '#libs/protocol';
import type { WorkflowFailure } from '../failure.js';
import type { NodeInstance } from '../node-run.js';
import { inputValue } from '../run-inputs.js';
import { NODE_FIELDS, RUN_FIELDS } from './vocabulary.js';

/** Run as expressions see it. */
export interface ExpressionRun {
  id: string;
  workflow: string;
  revision: string;
  contextId: string;
  startedAt: Date;
  /** Entry of the conversation that requested the run; null if none did. */
  conversation: JsonObject | null;
}

/** Place in a run at which expressions are evaluated, and the values visible from there. */
export interface Viewpoint {
  readonly run: ExpressionRun;
  readonly inputs: JsonObject;
  /** Ids of all nodes. */
  readonly ids: ReadonlySet<string>;
  /** Returns the instance of a node that is visible here. */
  findInstance(id: string): NodeInstance | undefined;
  /** Returns the result of the innermost loop around a node; null if there is none or it has not ended. */
  readLoopResult(id: string): JsonValue;
  /** Item of a list, for one of its entries. */
  readonly item?: JsonValue;
  readonly index?: number;
  /** Number of the current iteration of the innermost loop. */
  readonly iteration?: number;
}

/** Values of one moment. */
export interface Moment {
  /** Failure that is handled; null if there was none. */
  error?: WorkflowFailure | null;
  now?: Date;
}

/**
 * Returns the variables of expressions at a place. Each value is created when an expression first reads it. Expressions
 * of one decision share the variables, which are discarded when the run folds another event.
 */
export function createRunVariables(at: Viewpoint, { error, now }: Moment = {}): Variables {
  return {
    inputs: at.inputs,
    nodes: new Members(at.ids, (id) => new Members(NODE_FIELDS, (field) => readNodeField(at, id, field))),
    run: new Members(RUN_FIELDS, (field) => at.run[field as keyof ExpressionRun]),
    item: at.item,
    index: at.index,
    iteration: at.iteration,
    error: error && failureValue(error),
    now,
  };
}

function readNodeField(at: Viewpoint, id: string, field: string): Value | undefined {
  const node = at.findInstance(id);
  switch (field) {
    case 'status':
      return node?.status ?? 'pending';
    case 'text':
      return artifactReference(node?.artifacts[0], []) ?? '';
    case 'data':
      return firstData(node?.artifacts[0]?.parts ?? []) ?? readGivenData(at, node) ?? null;
    case 'artifacts':
      return (node?.artifacts ?? []) as unknown as JsonValue;
    case 'error':
      return nodeFailure(node);
    case 'attempts':
      return node?.attempts ?? 0;
    case 'loop':
      return at.readLoopResult(id);
    default:
      return undefined;
  }
}

/** Returns the value given to an `input` node, unless it is a text. The node's Artifact has it as a text only. */
function readGivenData({ inputs }: Viewpoint, node: NodeInstance | undefined): JsonValue | undefined {
  if (node?.type !== 'input' || node.status !== 'completed') return undefined;
  const given = inputValue(inputs, node.id);
  return typeof given === 'string' ? undefined : given;
}

function nodeFailure(node: NodeInstance | undefined): JsonValue {
  if (node?.status !== 'failed') return null;
  return failureValue(node.failure ?? { kind: 'failed', message: node.error ?? '', node: node.id });
}

/** Returns a failure with all of its members, so that an expression may read any. */
function failureValue({ kind, message, node, instance }: WorkflowFailure): JsonObject {
  return { kind, message, node: node ?? null, instance: instance ?? node ?? null };
}
