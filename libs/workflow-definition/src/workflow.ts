import type { JsonObject, JsonValue, Part } from '#libs/protocol';

/** Duration, for example `500ms`, `1.5s`, `2m`, `48h`, `7d`. */
export type DurationText = string;

/** Outcome to which an edge applies (that of its source), or an `onExit` node (that of the run). */
export type OutcomeFilter = 'success' | 'failure' | 'always';

/**
 * Number of incoming edges that must be live for a node to run. Once it runs, `cancelRest` cancels nodes that only lead
 * to it.
 */
export type Join = 'all' | 'any' | { n: number; cancelRest?: boolean };

/** Retry of failed attempts. Absent members have defaults. */
export interface RetryConfig {
  /** Number of attempts, including the first. */
  attempts: number;
  /** Kinds of failure that are retried. */
  on?: string[];
  /** CEL condition; `error` is the failure. */
  when?: string;
  delay?: DurationText;
  factor?: number;
  maxDelay?: DurationText;
  /** Random part of a delay: 0 to 1. */
  jitter?: number;
}

/** Runs a node once for each entry of a list. */
export interface EachConfig {
  /** CEL expression that gives a list. */
  items: string;
  /** Items at work at once; default 5. */
  concurrency?: number;
  /** Longest list; default 1,000, at most 10,000. */
  maxItems?: number;
  /** `fail` (the default): the first failure cancels the remaining entries. */
  onFailure?: 'fail' | 'collect';
  /** Number of entries that must succeed with `collect`, as a number or as a percentage (`80%`). */
  minSuccess?: number | string;
}

/** Required shape of a node's result. */
export interface OutputConfig {
  /** JSON Schema of its data. */
  schema?: JsonValue;
  /** True if JSON is parsed from its text. */
  parse?: boolean;
}

/** Handling of a question that is not answered in time. */
export interface WaitConfig {
  deadline: DurationText;
  /** Default answer: an object as data, a string as text. Without it the node fails. */
  default?: JsonValue;
}

export interface WorkflowNode {
  id: string;
  type: string;
  config: JsonObject;
  /** Position in an editor; has no effect on runs. */
  position?: { x: number; y: number };
  /** `every` (the default) takes each outgoing edge that applies, `first` the first one, in order. */
  branch?: 'every' | 'first';
  join?: Join;
  each?: EachConfig;
  retry?: RetryConfig;
  /** Timeout of one attempt, excluding the time for which it waits for an answer. */
  timeout?: DurationText;
  /** Result if no attempt succeeds. */
  fallback?: { parts: Part[] };
  output?: OutputConfig;
  onWait?: WaitConfig;
}

/** A back-edge, which repeats the nodes between its ends. */
export interface LoopConfig {
  /** Largest number of iterations: 1 to 100. */
  max_iterations: number;
  /** CEL condition that is evaluated after each iteration. */
  exit_when?: string;
  /** Pause between two iterations. */
  delay?: DurationText;
  on_max?: 'continue' | 'fail';
  /** Text for the first iteration in place of the previous iteration's result. */
  initial?: string;
}

export interface WorkflowEdge {
  from: string;
  to: string;
  /** CEL condition; the edge is taken if it is true. */
  when?: string;
  /** Outcome of the source to which the edge applies; default `success`. */
  on?: OutcomeFilter;
  loop?: LoopConfig;
}

/** A node that runs after the run's outcome is known. */
export interface ExitConfig {
  node: string;
  /** Outcome of the run to which it applies; default `always`. A canceled run counts as `always` only. */
  on?: OutcomeFilter;
}

/** A workflow as callers define it: nodes, which are agents, and the edges between them. */
export interface WorkflowDefinition {
  /** URL of the JSON Schema of definitions, for editors; stored without an effect. */
  $schema?: string;
  name: string;
  description?: string;
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  /**
   * `cancel` (the default): the first failure ends the run. `continue`: only descendants of the failed node are
   * skipped.
   */
  onFailure?: 'cancel' | 'continue';
  /** 2: `${cel}` in strings is an expression. */
  language?: 1 | 2;
  /** Deadline of the whole run. */
  deadline?: DurationText;
  /** Nodes at work at once, including entries of lists; unlimited by default. */
  parallel?: number;
  onExit?: ExitConfig[];
}

/** A saved state of a workflow. A run keeps the revision that it was started with. */
export interface WorkflowRevision {
  definition: WorkflowDefinition;
  /** Opaque; grows with every save. */
  revision: string;
  createdAt: Date;
  updatedAt: Date;
}
