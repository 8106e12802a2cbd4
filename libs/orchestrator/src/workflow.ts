import type { JsonObject, JsonValue, Part } from '#libs/protocol';

/** `500ms`, `1.5s`, `2m`, `48h`, `7d`. */
export type DurationText = string;

/** Which outcomes of its source an edge, or of the run an `onExit` node, is for. */
export type OutcomeFilter = 'success' | 'failure' | 'always';

/** How many of a node's incoming edges must be live for it to run; once it runs, `cancelRest` cancels what only leads to it. */
export type Join = 'all' | 'any' | { n: number; cancelRest?: boolean };

/** When a failed attempt is made again. What is left out has a default (`retry-policy.ts`). */
export interface RetryConfig {
  /** Attempts in all, with the first. */
  attempts: number;
  /** Kinds of failure. */
  on?: string[];
  /** CEL; `error` is the failure. */
  when?: string;
  delay?: DurationText;
  factor?: number;
  maxDelay?: DurationText;
  /** 0 to 1: the part of a delay that is left to chance. */
  jitter?: number;
}

/** Runs a node once for each entry of a list. */
export interface EachConfig {
  /** CEL, a list. */
  items: string;
  /** Items at work at once; 5 unless set. */
  concurrency?: number;
  /** 1,000 unless set, at most 10,000. */
  maxItems?: number;
  /** `fail` (the default): the first failure cancels the rest. */
  onFailure?: 'fail' | 'collect';
  /** Of `collect`: how many must succeed, as a number or as a percentage (`80%`). */
  minSuccess?: number | string;
}

/** What a node's result has to look like. */
export interface OutputConfig {
  /** JSON Schema of its data. */
  schema?: JsonValue;
  /** Whether JSON is read out of its text. */
  parse?: boolean;
}

/** What becomes of a question that nobody answers. */
export interface WaitConfig {
  deadline: DurationText;
  /** Sent as the answer: an object as data, a string as text. Without it the node fails. */
  default?: JsonValue;
}

export interface WorkflowNode {
  id: string;
  type: string;
  config: JsonObject;
  /** Where an editor draws it; nothing else reads it. */
  position?: { x: number; y: number };
  /** `every` (the default) takes each outgoing edge that applies, `first` the first one, in order. */
  branch?: 'every' | 'first';
  join?: Join;
  each?: EachConfig;
  retry?: RetryConfig;
  /** Of one attempt, without the time that it waits for an answer. */
  timeout?: DurationText;
  /** Its result where no attempt succeeds. */
  fallback?: { parts: Part[] };
  output?: OutputConfig;
  onWait?: WaitConfig;
}

/** An edge back, which repeats what lies between its ends. */
export interface LoopConfig {
  /** How often the body runs at most: 1 to 100. */
  max_iterations: number;
  /** CEL, asked after each iteration. */
  exit_when?: string;
  /** Between two iterations. */
  delay?: DurationText;
  on_max?: 'continue' | 'fail';
  /** What the first iteration gets where later ones get the result of the one before. */
  initial?: string;
}

export interface WorkflowEdge {
  from: string;
  to: string;
  /** CEL; the edge is taken where it is true. */
  when?: string;
  /** `success` unless set. */
  on?: OutcomeFilter;
  loop?: LoopConfig;
}

/** A node that runs when the run's outcome is known. */
export interface ExitConfig {
  node: string;
  /** `always` unless set; a canceled run counts as `always` alone. */
  on?: OutcomeFilter;
}

/** Agents and how they follow each other, as callers define it. */
export interface WorkflowDefinition {
  /** Where editors find the JSON Schema of definitions; kept, and nothing else. */
  $schema?: string;
  name: string;
  description?: string;
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  /** `cancel` (the default): the first failure ends the run. `continue`: only what descends from it is skipped. */
  onFailure?: 'cancel' | 'continue';
  /** 2: `${cel}` in strings is an expression. */
  language?: 1 | 2;
  /** Of the whole run. */
  deadline?: DurationText;
  /** Nodes at work at once, items of `each` included; unlimited unless set. */
  parallel?: number;
  onExit?: ExitConfig[];
}

/** One saved state of a workflow. A run keeps the revision that it was started with. */
export interface WorkflowRevision {
  definition: WorkflowDefinition;
  /** Opaque; grows with every save. */
  revision: string;
  createdAt: Date;
  updatedAt: Date;
}
