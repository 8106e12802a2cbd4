import { InputSchema, readAnswer, strayParts } from '#libs/expressions';
import {
  agentMessage,
  briefText,
  dataPart,
  type FieldViolation,
  firstData,
  firstText,
  formMessage,
  type FormQuestion,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type TaskReference,
  textPart,
} from '#libs/protocol';
import type { TaskQuestion } from '#libs/tasks';
import type { WorkflowGraph } from '#libs/workflow-definition';
import type { NodeInstance, NodeStatus } from './node-instance.js';
import { questionDeadline } from './timers.js';

/**
 * Message metadata key that names a node: the one that asks, or the one that the caller answers, by node id or instance
 * name.
 */
export const NODE_KEY = 'node';

/** A node that asks a question. */
type Asking = Pick<NodeInstance, 'id' | 'instance'>;

/**
 * Returns the waiting nodes that a follow-up Message answers: the one that its metadata name, else those that the keys
 * of its data objects name, else the first. None if the metadata name a node that does not wait.
 */
export function answeredNodes<N extends Asking>(message: Message, waiting: readonly N[]): N[] {
  const name = message.metadata?.[NODE_KEY];
  if (name !== undefined) return namedNode(waiting, name).slice(0, 1);
  const keys = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.keys(data) : []));
  const named = new Set(keys.map((key) => namedNode(waiting, key)[0]));
  const byKey = waiting.filter((node) => named.has(node));
  return byKey.length > 0 ? byKey : waiting.slice(0, 1);
}

/** Returns the part of a follow-up Message for one node: the value under its name, or the whole Message. */
export function answerParts(message: Message, node: Asking): Part[] {
  const name = message.metadata?.[NODE_KEY];
  if (name === node.instance || name === node.id) return message.parts;
  const own = partsUnder(message, node.instance);
  const parts = own.length > 0 ? own : partsUnder(message, node.id);
  return parts.length > 0 ? parts : message.parts;
}

/** Returns the instance of this name, else all waiting instances of the node with this id. */
export function namedNode<N extends Asking>(waiting: readonly N[], name: JsonValue): N[] {
  const exact = waiting.filter(({ instance }) => instance === name);
  return exact.length > 0 ? exact : waiting.filter(({ id }) => id === name);
}

function partsUnder(message: Message, key: string): Part[] {
  return message.parts.flatMap(({ data }) => {
    if (!isJsonObject(data) || !Object.hasOwn(data, key)) return [];
    const value = data[key] ?? null;
    return [typeof value === 'string' ? textPart(value) : dataPart(value)];
  });
}

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
  const form = InputSchema.ifValid(asks.form);
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

const OPEN: ReadonlySet<NodeStatus> = new Set(['pending', 'running', 'input-required']);
/** Maximum number of questions in one text, and of characters in each. */
const MOST_QUESTIONS = 10;
const LONGEST_QUESTION = 500;

/**
 * Returns the entries of a list that wait for an answer, if no other entry of the list is open.
 * Empty for a node without a list, and while any entry works or waits for a timer.
 */
export function askingEntries({ each, status }: NodeInstance): readonly NodeInstance[] {
  if (each === undefined || status !== 'running') return [];
  const open = each.runs.filter((entry) => OPEN.has(entry.status));
  return open.every((entry) => entry.status === 'input-required') ? open : [];
}

/** Formats the questions of at most ten entries, a line each. A line begins with the instance that an answer names. */
export function questionsText(entries: readonly NodeInstance[]): string {
  const lines = entries
    .slice(0, MOST_QUESTIONS)
    .map((entry) => `${entry.instance}: ${briefText(questionText(entry), LONGEST_QUESTION)}`);
  const more = entries.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
