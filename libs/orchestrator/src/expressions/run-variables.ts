import { Members, type Value, type Variables } from '#libs/expressions';
import { artifactReference, firstData, type JsonObject, type JsonValue } from '#libs/protocol';
import type { Failure } from '../failure.js';
import type { NodeRun } from '../node-run.js';
import { inputValue } from '../run-inputs.js';
import { NODE_FIELDS, RUN_FIELDS } from './vocabulary.js';

/** A run as expressions know it. */
export interface KnownRun {
  id: string;
  workflow: string;
  revision: string;
  contextId: string;
  startedAt: Date;
  /** The entry of the conversation that asked for the run; null where none did. */
  conversation: JsonObject | null;
}

/** A place in a run that expressions are evaluated at, and what is seen from there. */
export interface Viewpoint {
  readonly run: KnownRun;
  readonly inputs: JsonObject;
  /** The ids of all nodes. */
  readonly ids: ReadonlySet<string>;
  /** The instance of a node that is meant here. */
  node(id: string): NodeRun | undefined;
  /** How the innermost loop around a node has gone; null while it has not ended, and where there is none. */
  loop(id: string): JsonValue;
  /** Of an entry of a list. */
  readonly item?: JsonValue;
  readonly index?: number;
  /** Of the innermost loop around the place. */
  readonly iteration?: number;
}

/** What is known at one moment alone. */
export interface Moment {
  /** The failure that is handled; null where there was none. */
  error?: Failure | null;
  now?: Date;
}

/**
 * The variables of expressions at a place. Nothing is made that no expression asks for, and everything at most once:
 * expressions of one decision share them, and they are thrown away when the run takes in another event.
 */
export function runVariables(at: Viewpoint, { error, now }: Moment = {}): Variables {
  return {
    inputs: at.inputs,
    nodes: new Members(at.ids, (id) => new Members(NODE_FIELDS, (field) => nodeField(at, id, field))),
    run: new Members(RUN_FIELDS, (field) => at.run[field as keyof KnownRun]),
    item: at.item,
    index: at.index,
    iteration: at.iteration,
    error: error && failureValue(error),
    now,
  };
}

function nodeField(at: Viewpoint, id: string, field: string): Value | undefined {
  const node = at.node(id);
  switch (field) {
    case 'status':
      return node?.status ?? 'pending';
    case 'text':
      return artifactReference(node?.artifacts[0], []) ?? '';
    case 'data':
      return firstData(node?.artifacts[0]?.parts ?? []) ?? givenData(at, node) ?? null;
    case 'artifacts':
      return (node?.artifacts ?? []) as unknown as JsonValue;
    case 'error':
      return nodeFailure(node);
    case 'attempts':
      return node?.attempts ?? 0;
    case 'loop':
      return at.loop(id);
    default:
      return undefined;
  }
}

/** What an `input` node was given, where that is no text: its Artifact has it as one. */
function givenData({ inputs }: Viewpoint, node: NodeRun | undefined): JsonValue | undefined {
  if (node?.type !== 'input' || node.status !== 'completed') return undefined;
  const given = inputValue(inputs, node.id);
  return typeof given === 'string' ? undefined : given;
}

function nodeFailure(node: NodeRun | undefined): JsonValue {
  if (node?.status !== 'failed') return null;
  return failureValue(node.failure ?? { kind: 'failed', message: node.error ?? '', node: node.id });
}

/** All its members are there, so that an expression may ask for any. */
function failureValue({ kind, message, node, instance }: Failure): JsonObject {
  return { kind, message, node: node ?? null, instance: instance ?? node ?? null };
}
