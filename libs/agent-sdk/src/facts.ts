/**
 * Symbol that marks the exports of a plugin module with their kind (`node`, `tool` or `fact`). Several copies of this
 * package share it.
 */
export const PLUGIN: unique symbol = Symbol.for('parley-a2a/plugin');

/** Fact: a Task has reached a final state. */
export interface TaskSettled {
  taskId: string;
  contextId: string;
  /** Path of the agent, for example `workflows/translate`; `''` for the service itself. */
  agent: string;
  tenant: string;
  owner: string;
  /** A2A state, for example `TASK_STATE_COMPLETED`. */
  state: string;
  /** Task whose agent created this Task by a call, if any. */
  parentTaskId?: string;
  createdAt: Date;
  settledAt: Date;
}

/** Fact: a run of a workflow has failed. */
export interface RunFailed {
  runId: string;
  workflow: string;
  tenant: string;
  /** Id of the node whose failure ended the run, if any. */
  node?: string;
  /** Kind of the failure, as in `failure.kind` of run events. */
  kind?: string;
  /** Start of the failure's message. The message may quote the text of agents. */
  cause: string;
  /** Id of the trace that the run belongs to, if any. */
  traceId?: string;
}

/** Fact: a Task waits for an answer (INPUT_REQUIRED) or for a login (AUTH_REQUIRED). */
export interface QuestionAsked {
  taskId: string;
  contextId: string;
  agent: string;
  tenant: string;
  owner: string;
  /** Id of the node that asks, if the Task belongs to a node. */
  node?: string;
  /** `TASK_STATE_INPUT_REQUIRED` or `TASK_STATE_AUTH_REQUIRED`. */
  state: string;
}

/** Fact: the card of a remote agent has changed. */
export interface CardChanged {
  /** URL of the agent, without credentials and query. */
  url: string;
  tenant: string;
  /** Paths of the changed members of the card. */
  paths: readonly string[];
  /** Value of the setting `CARD_CHANGE_POLICY` (`allow`, `warn` or `block`), which decides how the service reacts. */
  policy: string;
  /**
   * True if the change affects a member that callers rely on, such as the name, an address, a skill or a credential.
   */
  significant: boolean;
  /** True if calls to the agent are refused until the change is accepted. */
  blocked: boolean;
}

/** Fact: an API key was revoked or replaced. */
export interface KeyRevoked {
  /** Name of the key, never the key itself. */
  name: string;
  tenant: string;
}

/** Fact: a replica has shut down or died, and other replicas have adopted its Tasks. */
export interface ReplicaLeft {
  replicaId: string;
  /** Number of Tasks that the reporting replica has adopted since the previous fact of this kind. */
  takenOver: number;
}

/** Payload of each fact that the service emits, by the name of the fact. */
export interface FactPayloads {
  'task.settled': TaskSettled;
  'run.failed': RunFailed;
  'question.asked': QuestionAsked;
  'card.changed': CardChanged;
  'key.revoked': KeyRevoked;
  'replica.left': ReplicaLeft;
}

export type FactName = keyof FactPayloads;

/** Fact of any name, with the values that belong to that name. */
export type Fact = { [Name in FactName]: { name: Name; payload: FactPayloads[Name] } }[FactName];

/** Names of all facts. */
const FACT_NAMES: readonly FactName[] = [
  'task.settled',
  'run.failed',
  'question.asked',
  'card.changed',
  'key.revoked',
  'replica.left',
];

export type FactHandler<Name extends FactName> = (fact: FactPayloads[Name]) => unknown;

/** Fact handler that a plugin module exports. */
export interface DefinedHandler<Name extends FactName = FactName> {
  readonly fact: Name;
  readonly handle: FactHandler<Name>;
  readonly [PLUGIN]: 'fact';
}

/**
 * Defines a handler that receives each fact of a name, once the replica has made the fact durable.
 * - A fact is a hint: the replica delivers it once, after the commit, and does not deliver it after a crash.
 * - An error or a rejection of the handler is logged and has no other effect.
 * @throws TypeError naming the invalid argument
 */
export function onFact<Name extends FactName>(name: Name, handle: FactHandler<Name>): DefinedHandler<Name> {
  if (!FACT_NAMES.includes(name)) throw new TypeError(`onFact: name must be one of ${FACT_NAMES.join(', ')}`);
  if (typeof handle !== 'function') throw new TypeError(`onFact ${name}: handler must be a function`);
  return { fact: name, handle, [PLUGIN]: 'fact' };
}
