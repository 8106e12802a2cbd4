import { PLUGIN } from './plugin-mark.js';

/** A Task has reached a state that is final. */
export interface TaskSettled {
  taskId: string;
  contextId: string;
  /** The path of the agent, for example `workflows/translate`; `''` is the service. */
  agent: string;
  tenant: string;
  owner: string;
  /** The A2A state, for example `TASK_STATE_COMPLETED`. */
  state: string;
  /** The Task that called for this one, if any. */
  parentTaskId?: string;
  createdAt: Date;
  settledAt: Date;
}

/** A run has failed. */
export interface RunFailed {
  runId: string;
  workflow: string;
  tenant: string;
  /** The node whose failure ended the run, if one did. */
  node?: string;
  /** The kind of that failure, as in `failure.kind` of run events. */
  kind?: string;
  /** The beginning of the failure's message, which may quote what agents said. */
  cause: string;
  /** The trace that the run belongs to, if any. */
  traceId?: string;
}

/** A Task waits for an answer, or for a login. */
export interface QuestionAsked {
  taskId: string;
  contextId: string;
  agent: string;
  tenant: string;
  owner: string;
  /** The node that asks, if the Task is one of a node. */
  node?: string;
  /** `TASK_STATE_INPUT_REQUIRED` or `TASK_STATE_AUTH_REQUIRED`. */
  state: string;
}

/** The card of an agent elsewhere says something else than before. */
export interface CardChanged {
  /** The agent's URL, without credentials and query. */
  url: string;
  tenant: string;
  /** The members of the card that changed. */
  paths: readonly string[];
  /** `CARD_CHANGE_POLICY`. */
  policy: string;
  /** True if the change concerns more than words and pictures. */
  significant: boolean;
  /** True if calls are refused until somebody accepts the change. */
  blocked: boolean;
}

/** An API key was revoked, or replaced by another one. */
export interface KeyRevoked {
  /** The key's name; never the key. */
  name: string;
  tenant: string;
}

/** A replica has left or died, and its work was taken over. */
export interface ReplicaLeft {
  replicaId: string;
  /** Tasks that the telling replica took over since the last replica left. */
  takenOver: number;
}

/** Payloads of the facts that parts of the service emit, by the facts' names. */
export interface FactPayloads {
  'task.settled': TaskSettled;
  'run.failed': RunFailed;
  'question.asked': QuestionAsked;
  'card.changed': CardChanged;
  'key.revoked': KeyRevoked;
  'replica.left': ReplicaLeft;
}

export type FactName = keyof FactPayloads;

/** A fact with its name. */
export type Fact = { [Name in FactName]: { name: Name; payload: FactPayloads[Name] } }[FactName];

/** The names of all facts. */
export const FACT_NAMES: readonly FactName[] = [
  'task.settled',
  'run.failed',
  'question.asked',
  'card.changed',
  'key.revoked',
  'replica.left',
];

export type FactHandler<Name extends FactName> = (fact: FactPayloads[Name]) => unknown;

/** A handler that a plugin module exports. */
export interface DefinedHandler<Name extends FactName = FactName> {
  readonly fact: Name;
  readonly handle: FactHandler<Name>;
  readonly [PLUGIN]: 'fact';
}

/**
 * Has a function called with every fact of a name that this replica makes durable.
 *
 * - A fact is a hint: it comes once, after its commit, and is lost with the process.
 * - What the function throws, or rejects with, is logged and changes nothing.
 *
 * @throws TypeError naming the argument that is wrong
 */
export function onFact<Name extends FactName>(name: Name, handle: FactHandler<Name>): DefinedHandler<Name> {
  if (!FACT_NAMES.includes(name)) throw new TypeError(`onFact: name must be one of ${FACT_NAMES.join(', ')}`);
  if (typeof handle !== 'function') throw new TypeError(`onFact ${name}: handler must be a function`);
  return { fact: name, handle, [PLUGIN]: 'fact' };
}
