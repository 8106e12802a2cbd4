import type { CallCancelOutcome } from '#libs/agent-calls';
import type { Artifact, JsonObject, Part, RunEventNote } from '#libs/protocol';
import type { CanceledChild, NodeRun } from './node-run.js';
import type { RunEventType } from './run-event-type.js';
import type { RunFacts } from './run-facts.js';

type Fold<P> = (run: RunFacts, payload: P, at: string) => void;
type NodeFold<P> = (node: NodeRun, payload: P, at: string, run: RunFacts) => void;

/** A kind of step: what its event says, and what the event does to a run that reads it. */
export class RunStep<P extends object> {
  constructor(
    readonly type: RunEventType,
    readonly fold: Fold<P>,
  ) {}

  note(payload: P): RunEventNote {
    return { type: this.type, payload: { ...payload } as unknown as JsonObject };
  }
}

/** A step of one node. */
export class NodeStep<P extends object> {
  constructor(
    readonly type: RunEventType,
    readonly fold: NodeFold<P>,
  ) {}

  note(node: { id: string; type: string }, payload: P): RunEventNote {
    return {
      type: this.type,
      node_id: node.id,
      node_type: node.type,
      payload: { ...payload } as unknown as JsonObject,
    };
  }
}

export const nodeStarted = new NodeStep<{ attempt: number }>('node.started', (node, { attempt }, at, run) => {
  node.attempts = attempt;
  node.startedAt = at;
  delete node.messageId;
  run.frontier.move(node, 'running');
});

/** `taskId` is present when the Message answers what that Task of the agent asks. */
export const a2aSending = new NodeStep<{ url: string; messageId: string; taskId?: string }>(
  'a2a.sending',
  (node, { url, messageId, taskId }, _at, run) => {
    node.agentUrl = url;
    node.messageId = messageId;
    run.frontier.move(node, 'running');
    delete node.question;
    delete node.wantsAuth;
    delete node.answer;
    if (taskId === undefined || run.received === undefined) return;
    node.answer = run.received;
    run.undelivered = false;
  },
);

/** The state of a Task that goes on when its caller has authenticated, as a word. */
export const AUTH_REQUIRED = 'auth-required';

/** `status` is the agent's Task state as a word; `question` is present when the agent waits for an answer. */
export interface ReceivedPayload {
  url: string;
  status: string;
  message: string;
  taskId?: string;
  contextId?: string;
  question?: Part[];
}

export const a2aReceived = new NodeStep<ReceivedPayload>('a2a.received', (node, payload, _at, run) => {
  if (payload.taskId !== undefined) node.taskId = payload.taskId;
  if (payload.contextId !== undefined) node.contextId = payload.contextId;
  if (payload.question === undefined) return;
  node.question = payload.question;
  node.wantsAuth = payload.status === AUTH_REQUIRED;
  run.frontier.move(node, 'input-required');
});

/** `artifacts` is absent where the event itself carries the node's one Artifact. */
export const nodeCompleted = new NodeStep<{ status: string; artifacts?: Artifact[] }>(
  'node.completed',
  (node, { artifacts }, at, run) => {
    node.artifacts = artifacts ?? [];
    node.finishedAt = at;
    run.frontier.move(node, 'completed');
  },
);

/** `error` is the cause; `message` is what the run says of it when it is the first failure. */
export const nodeError = new NodeStep<{ error: string; message: string }>(
  'node.error',
  (node, { error, message }, at, run) => {
    node.error = error;
    node.finishedAt = at;
    run.error ??= { node: node.id, message };
    run.frontier.move(node, 'failed');
    run.frontier.skipAfter(node);
  },
);

export const nodeCanceled = new NodeStep<{ url?: string; taskId?: string; outcome: CallCancelOutcome }>(
  'node.canceled',
  (node, { taskId, outcome }, at, run) => {
    node.finishedAt = at;
    node.cancelOutcome = outcome;
    if (taskId !== undefined) node.taskId = taskId;
    delete node.question;
    delete node.wantsAuth;
    run.frontier.move(node, 'canceled');
  },
);

/** `state` is present where authentication is asked for. */
export const inputRequired = new NodeStep<{ question: string; taskId?: string; state?: typeof AUTH_REQUIRED }>(
  'input.required',
  () => undefined,
);

export const workflowFailed = new RunStep<{ error: string; node?: string }>(
  'workflow.failed',
  (run, { error, node }) => {
    run.error ??= { ...(node !== undefined && { node }), message: error };
    run.failureReported = true;
  },
);

export const workflowCanceled = new RunStep<{ children: CanceledChild[] }>('workflow.canceled', (run, { children }) => {
  run.children = children;
});

export const done = new RunStep<{ status: string; state: JsonObject; error?: string }>('done', () => undefined);

const RUN_STEPS = new Map(
  [workflowFailed, workflowCanceled, done].map((step) => [step.type as string, step.fold as Fold<JsonObject>]),
);
const NODE_STEPS = new Map(
  [nodeStarted, a2aSending, a2aReceived, nodeCompleted, nodeError, nodeCanceled, inputRequired].map((step) => [
    step.type as string,
    step.fold as NodeFold<JsonObject>,
  ]),
);

/** Does to a run what a step's event says. Steps that change nothing (`model.*`, `tool.*`) and unknown ones pass. */
export function foldStep(run: RunFacts, note: RunEventNote, at: string): void {
  const node = note.node_id === undefined ? undefined : run.nodes.get(note.node_id);
  if (node === undefined) RUN_STEPS.get(note.type)?.(run, note.payload, at);
  else NODE_STEPS.get(note.type)?.(node, note.payload, at, run);
}
