/** Part of an A2A Message or Artifact: one of `text`, `data`, `url` and `raw`. */
export interface EventPart {
  text?: string;
  data?: unknown;
  url?: string;
  /** Bytes in base64. */
  raw?: string;
  filename?: string;
  mediaType?: string;
  metadata?: Record<string, unknown>;
}

/** A2A Artifact. */
export interface EventArtifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: EventPart[];
  metadata?: Record<string, unknown>;
  extensions?: string[];
}

/** Failure of a node or a run. `kind` is one of the kinds that `retry.on` names. */
export interface EventFailure {
  kind: string;
  message: string;
  node?: string;
  instance?: string;
}

/** Outcome of the attempt to cancel the Task of an agent. */
export type EventCancelOutcome = 'acknowledged' | 'refused' | 'unreachable' | 'not-started' | 'unknown';

/** Place of a loop: the index of its edge, and the iterations of the loops around it. */
interface EventLoop {
  edge: number;
  path?: number[];
}

/** Number of tokens that a model call used. Cached and reasoning tokens are parts of the input and output tokens. */
interface EventUsage {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number;
  cacheWriteInputTokens?: number;
  reasoningTokens?: number;
  /** Cost in US dollars, as a decimal number; absent if the model has no price. */
  cost?: string;
}

/** Call of a tool that a model requests. */
interface EventToolCall {
  tool: string;
  id: string;
  args: Record<string, unknown>;
}

/**
 * Payloads of the events of a run, by type. The types check of the repository compares them with the payloads that the
 * service emits.
 */
export interface RunEventPayloads {
  /** Without a node: the run has begun, with `workflow` and `inputs`. Else an attempt of a node has begun. */
  'node.started': { attempt?: number; workflow?: string; inputs?: Record<string, unknown> };
  'a2a.sending': { url: string; messageId: string; taskId?: string; answeredBy?: 'deadline'; parts?: EventPart[] };
  'a2a.received': {
    url: string;
    status: string;
    message: string;
    taskId?: string;
    contextId?: string;
    question?: EventPart[];
    asks?: { form?: Record<string, unknown>; assignee?: string; deadline?: string; violations?: EventViolation[] };
    refused?: EventViolation[];
  };
  'node.progress': { text?: string; artifact?: EventArtifact & { append?: boolean }; tool?: string; call?: string };
  'model.request': { model: string; step: number; omitted?: number };
  'model.response': {
    model: string;
    step: number;
    /** Number of tokens; absent if the provider does not report it. */
    usage?: EventUsage;
    toolCalls?: (EventToolCall & { malformed?: string })[];
    note?: string;
  };
  'model.error': {
    model: string;
    step: number;
    message: string;
    status?: number;
    next?: string;
    usage?: EventUsage;
  };
  'tool.call': EventToolCall & { step: number };
  'tool.called': { tool: string; id: string; agent: string; taskId: string; contextId: string };
  'tool.result': { tool: string; id: string; result?: unknown; error?: string; truncated?: true; tokens?: number };
  'tool.canceled': { tool: string; id: string; taskId?: string; outcome: string };
  'budget.exceeded': { runId: string; workflow: string; unit: 'usd' | 'tokens'; limit: string; spent: string };
  'template.warning': { reference: string; message: string };
  'number.rounded': { path: string; value: number; message: string };
  'parts.left-out': { count: number; kinds: string[] };
  'node.completed': {
    status: string;
    artifacts?: EventArtifact[];
    /** Text of the first Artifact; absent if there is none. */
    output?: string;
    taken?: number[];
    fallback?: true;
  };
  'node.error': { error: string; message: string; failure?: EventFailure; taken?: number[] };
  'node.retrying': { attempt: number; failure: EventFailure; retryAt: string };
  'node.canceled': { url?: string; taskId?: string; outcome: EventCancelOutcome };
  'node.skipped': { instances: string[]; because: 'off' | 'broken' | 'out-of-reach' | 'failure' | 'canceled' };
  'node.waiting': { until: string };
  'node.resumed': { taskId?: string };
  'node.reused': { origin: string; artifacts?: EventArtifact[]; taken?: number[]; fallback?: true };
  'edge.error': { edge: number; failure: EventFailure };
  'each.started': { items: unknown[] };
  'loop.next': EventLoop & { iteration: number; at?: string };
  'loop.ended': EventLoop & {
    reason: 'exit_when' | 'max' | 'failure';
    iterations: number;
    taken?: number[];
    failure?: EventFailure;
  };
  'result.emptied': { artifacts?: EventArtifact[] };
  'input.required': { question: string; taskId?: string; state?: 'auth-required' };
  'input.received': { messageId: string; parts: EventPart[] };
  'run.parked': { until?: string };
  'run.woken': object;
  'run.nearly-full': { bytes: number; limit: number; message: string };
  'run.deadline': { at: string; failure: EventFailure };
  'run.ending': { outcome: 'completed' | 'failed' | 'canceled' };
  'workflow.failed': { error: string; node?: string; failure?: EventFailure };
  'workflow.canceled': {
    children: {
      node: string;
      instance?: string;
      agentUrl: string;
      taskId?: string;
      outcome: EventCancelOutcome;
    }[];
    reason?: string;
  };
  done: { status: string; state: Record<string, unknown>; error?: string };
}

/** Violation of a form by an answer. */
interface EventViolation {
  field: string;
  description: string;
  reason?: string;
}

/** Members that all events of a run's stream have. */
interface RunEventMembers {
  /** Id of the event, which is the same whenever the event is read. */
  id: string;
  runId: string;
  workflow: string;
  /** Position of the event in the run's log, from 1 without gaps. */
  sequence: number;
  /** Time of the event, in ISO 8601. */
  timestamp: string;
  node_id?: string;
  node_type?: string;
  /** Name of the node's instance, if the node has several: `draft@2`, `tr[17]`. */
  instance?: string;
  [field: string]: unknown;
}

/** Event of a run's stream, of any type: also of one that a later version of the service adds. */
export interface AnyRunEvent extends RunEventMembers {
  /**
   * Type of the event: `node.started`, `node.progress`, `node.completed`, `input.required`, …; the last event is
   * `done`.
   */
  type: string;
  payload: Record<string, unknown>;
}

/** Type of an event that this version of the client knows. */
export type KnownEventType = keyof RunEventPayloads;

/**
 * Event of a run's stream.
 * - `type` decides which members `payload` has: a `switch` over it narrows the payload.
 * - Later versions of the service add types and members. End a `switch` with `default`; the event is an AnyRunEvent
 *   there.
 */
export type RunEvent = {
  [T in KnownEventType]: RunEventMembers & { type: T; payload: RunEventPayloads[T] & Record<string, unknown> };
}[KnownEventType];
