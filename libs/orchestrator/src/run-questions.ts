import { InputSchema, InvalidInputSchema, readAnswer, strayParts } from '#libs/expressions';
import {
  agentMessage,
  briefText,
  type FieldViolation,
  firstData,
  firstText,
  formMessage,
  type FormQuestion,
  type JsonObject,
  type Message,
  type Part,
  type TaskReference,
  textPart,
} from '#libs/protocol';
import type { TaskQuestion } from '#libs/tasks';
import { questionDeadline } from './node-clock.js';
import type { NodeInstance } from './node-run.js';
import { NODE_KEY } from './run-answer.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Metadata key of a waiting status and of its Message: the questions of the nodes. */
const WAITING_KEY = 'parley/waiting';

/**
 * Metadata key beside it, if the status does not have all questions: the number of open questions and where they are
 * listed.
 */
const OPEN_KEY = 'parley/open-questions';

/**
 * Limits of the questions in one status: their number, and their bytes as JSON. A run repeats its status with every
 * answer.
 */
const MOST_IN_STATUS = 10;
const MOST_STATUS_BYTES = 32 * 1024;
/** Longest form as JSON, in characters. A longer form of a remote agent is left out. */
const LONGEST_FORM = 64 * 1024;
/** Valid label. PostgreSQL rejects NUL in a text. */
const LABEL = /^[^\0]{1,200}$/;

/** A question of a node in the metadata of a status. */
interface WaitingQuestion {
  node: string;
  /** Name of the instance, which an answer refers to. */
  instance: string;
  text: string;
  /** JSON Schema of the data that answers; absent: a text answers. */
  form?: JsonObject;
  /** Label of the people who are to answer. */
  assignee?: string;
  /** Time until which an answer is possible (ISO 8601). */
  deadline?: string;
  /** Violations of the previous answer. */
  violations?: FieldViolation[];
}

/** Returns the question of a waiting node: that of its agent, or a default text. */
export function askedParts(node: NodeInstance): Part[] {
  const asked = node.question ?? [];
  return asked.length > 0 ? asked : [textPart(whatIsWaitedFor(node))];
}

/**
 * Returns the question as a text. A question without a text is shown as JSON, for example a tool call that a person is
 * to make.
 */
export function questionText(node: NodeInstance): string {
  const parts = askedParts(node);
  const data = firstData(parts);
  return firstText(parts) ?? (data === undefined ? whatIsWaitedFor(node) : JSON.stringify(data));
}

function whatIsWaitedFor({ id, wantsAuth }: NodeInstance): string {
  return `Node "${id}" waits for ${wantsAuth ? 'authentication' : 'input'}`;
}

/** Returns a node's question as a Message of the run. @param more metadata for callers who only read the Task */
export function askingMessage(reference: TaskReference, node: NodeInstance, more: JsonObject): Message {
  const name = { [NODE_KEY]: node.instance, ...more };
  const asks = asksOf(node);
  if (!asks) return agentMessage(reference, askedParts(node), name);
  const message = formMessage(reference, askedParts(node), asks);
  return { ...message, metadata: { ...name, ...message.metadata } };
}

/**
 * Returns the metadata of a waiting status.
 * - A few questions are all listed.
 * - If there are many, only new ones are listed, as far as there is room, with the number of open questions and where
 *   to find all of them. So the log grows linearly with the questions.
 * @param runId of the run, whose waiting instances are listed
 * @param now time of the status, at which new questions open
 */
export function waitingMetadata(
  graph: WorkflowGraph,
  waiting: readonly NodeInstance[],
  { runId, now }: { runId: string; now: string },
): JsonObject {
  const all = fittingQuestions(graph, waiting, now);
  if (all.length === waiting.length) return { [WAITING_KEY]: all };
  const news = waiting.filter(({ isAsked, refused, asks }) => !isAsked || refused || asks?.violations);
  const list = `/api/runs/${runId}/instances?status=input-required`;
  return {
    [WAITING_KEY]: fittingQuestions(graph, news, now),
    [OPEN_KEY]: { count: waiting.length, inbox: '/api/inbox', list },
  };
}

/** Returns the first questions that fit into a status; at least one. */
function fittingQuestions(graph: WorkflowGraph, nodes: readonly NodeInstance[], now: string): JsonObject[] {
  const found: JsonObject[] = [];
  let bytes = 0;
  for (const node of nodes.slice(0, MOST_IN_STATUS)) {
    const question = waitingQuestion(graph, node, now) as unknown as JsonObject;
    bytes += Buffer.byteLength(JSON.stringify(question));
    if (bytes > MOST_STATUS_BYTES && found.length > 0) break;
    found.push(question);
  }
  return found;
}

/** Returns a question for the inbox. @param now see `waitingMetadata` */
export function openQuestion(graph: WorkflowGraph, node: NodeInstance, now: string): TaskQuestion {
  const { instance: key, assignee, ...body } = waitingQuestion(graph, node, now);
  return {
    key,
    ...(assignee !== undefined && { assignee }),
    since: new Date(node.openSince ?? now),
    body: body as unknown as JsonObject,
  };
}

/** Returns the violations of an answer to a node, including Parts that the question does not ask for. */
export function answerFaults({ asks }: NodeInstance, parts: readonly Part[]): FieldViolation[] {
  if (!asks) return [];
  const form = usableForm(asks.form);
  const strays = strayParts(form, parts);
  if (strays.length > 0) return strays;
  const read = readAnswer(form, parts);
  return 'violations' in read ? read.violations : [];
}

function waitingQuestion(graph: WorkflowGraph, node: NodeInstance, now: string): WaitingQuestion {
  const { form, assignee, violations } = asksOf(node) ?? {};
  const deadline = deadlineOf(graph, node, now);
  return {
    node: node.id,
    instance: node.instance,
    text: briefText(questionText(node)),
    ...(form && JSON.stringify(form).length <= LONGEST_FORM && { form }),
    ...(assignee !== undefined && LABEL.test(assignee) && { assignee }),
    ...(deadline !== undefined && { deadline }),
    ...(violations && { violations }),
  };
}

/** Returns the form of a question, with the violations of an answer that the agent rejected. */
function asksOf({ asks, refused }: NodeInstance): FormQuestion | undefined {
  return refused ? { ...asks, violations: refused } : asks;
}

/** Returns the deadline of the node's own `onWait`, else that of the agent's question. */
function deadlineOf(graph: WorkflowGraph, { id, openSince, asks }: NodeInstance, now: string): string | undefined {
  const deadline = questionDeadline(graph.node(id), openSince ?? now);
  return deadline === undefined ? asks?.deadline : new Date(deadline).toISOString();
}

/**
 * Returns the schema of a form; `undefined` for an invalid one of a remote agent, which has to check answers itself.
 */
function usableForm(form: JsonObject | undefined): InputSchema | undefined {
  try {
    return form && InputSchema.fromJson(form);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
