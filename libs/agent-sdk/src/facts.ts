/** Symbol that marks exports of a plugin module with their kind, even across copies of this package. */
export const PLUGIN: unique symbol = Symbol.for('parley-a2a/plugin');

/** Fact: a Task has reached a final state. */
export interface TaskSettled {
  taskId: string;
  contextId: string;
  /** Path of the agent, for example `workflows/translate`; `''` is the service. */
  agent: string;
  tenant: string;
  owner: string;
  /** A2A state, for example `TASK_STATE_COMPLETED`. */
  state: string;
  /** Task that called this one, if any. */
  parentTaskId?: string;
  createdAt: Date;
  settledAt: Date;
}

/** Fact: a run has failed. */
export interface RunFailed {
  runId: string;
  workflow: string;
  tenant: string;
  /** Node whose failure ended the run, if any. */
  node?: string;
  /** Kind of that failure, as in `failure.kind` of run events. */
  kind?: string;
  /** Start of the failure's message, which may quote agents. */
  cause: string;
  /** Trace that the run belongs to, if any. */
  traceId?: string;
}

/** Fact: a Task waits for an answer, or for a login. */
export interface QuestionAsked {
  taskId: string;
  contextId: string;
  agent: string;
  tenant: string;
  owner: string;
  /** Node that asks, if the Task belongs to a node. */
  node?: string;
  /** `TASK_STATE_INPUT_REQUIRED` or `TASK_STATE_AUTH_REQUIRED`. */
  state: string;
}

/** Fact: the card of an agent elsewhere has changed. */
export interface CardChanged {
  /** URL of the agent, without credentials and query. */
  url: string;
  tenant: string;
  /** Changed members of the card. */
  paths: readonly string[];
  /** Value of `CARD_CHANGE_POLICY`. */
  policy: string;
  /** True if the change affects more than texts and pictures. */
  significant: boolean;
  /** True if calls are refused until the change is accepted. */
  blocked: boolean;
}

/** Fact: an API key was revoked or replaced. */
export interface KeyRevoked {
  /** Name of the key, never the key itself. */
  name: string;
  tenant: string;
}

/** Fact: a replica has left or died, and its work was taken over. */
export interface ReplicaLeft {
  replicaId: string;
  /** Tasks that the reporting replica took over since the last replica left. */
  takenOver: number;
}

/** Payloads of the facts that the service emits, by name. */
export interface FactPayloads {
  'task.settled': TaskSettled;
  'run.failed': RunFailed;
  'question.asked': QuestionAsked;
  'card.changed': CardChanged;
  'key.revoked': KeyRevoked;
  'replica.left': ReplicaLeft;
}

export type FactName = keyof FactPayloads;

/** Fact with its name. */
export type Fact = { [Name in FactName]: { name: Name; payload: FactPayloads[Name] } }[FactName];

/** Names of all facts. */
export const FACT_NAMES: readonly FactName[] = [
  'task.settled',
  'run.failed',
  'question.asked',
  'card.changed',
  'key.revoked',
  'replica.left',
];

export type FactHandler<Name extends FactName> = (fact: FactPayloads[Name]) => unknown;

/** Handler that a plugin module exports. */
export interface DefinedHandler<Name extends FactName = FactName> {
  readonly fact: Name;
  readonly handle: FactHandler<Name>;
  readonly [PLUGIN]: 'fact';
}

/**
 * Registers a function for every fact of a name that this replica makes durable.
 * - A fact is a hint: it is delivered once, after its commit, and lost with the process.
 * - An error or a rejection of the function is logged and has no other effect.
 * @throws TypeError naming the invalid argument
 */
export function onFact<Name extends FactName>(name: Name, handle: FactHandler<Name>): DefinedHandler<Name> {
  if (!FACT_NAMES.includes(name)) throw new TypeError(`onFact: name must be one of ${FACT_NAMES.join(', ')}`);
  if (typeof handle !== 'function') throw new TypeError(`onFact ${name}: handler must be a function`);
  return { fact: name, handle, [PLUGIN]: 'fact' };
}
