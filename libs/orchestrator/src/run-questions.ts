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
import type { NodeRun } from './node-run.js';
import { NODE_KEY } from './run-answer.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** The key under which a run that waits says what its nodes ask: in the metadata of the status, and of its Message. */
const WAITING_KEY = 'parley/waiting';

/** The key beside it, where not all of them stand in one status: how many are open, and where they are listed. */
const OPEN_KEY = 'parley/open-questions';

/** Questions in one status, and their bytes as JSON: a run says a status with every answer. */
const MOST_IN_STATUS = 10;
const MOST_STATUS_BYTES = 32 * 1024;
/** Characters of a form as JSON. A longer one is that of an agent elsewhere, and its own affair. */
const LONGEST_FORM = 64 * 1024;
/** What a label may be: the database refuses NUL in a text. */
const LABEL = /^[^\0]{1,200}$/;

/** What a node asks, for those who answer. */
interface WaitingQuestion {
  node: string;
  /** What an answer names. */
  instance: string;
  text: string;
  /** The JSON Schema of the data that answers; absent: text does. */
  form?: JsonObject;
  /** Who shall answer: a label. */
  assignee?: string;
  /** When nobody needs to answer any more (ISO 8601). */
  deadline?: string;
  /** What was wrong with the answer before. */
  violations?: FieldViolation[];
}

/** What a waiting node's agent asks for, in its own words where it said any. */
export function question(node: NodeRun): Part[] {
  const asked = node.question ?? [];
  return asked.length > 0 ? asked : [textPart(whatIsWaitedFor(node))];
}

/** The same as a text: an agent may ask by data alone, such as the call of a tool that a person is to make. */
export function questionText(node: NodeRun): string {
  const parts = question(node);
  const data = firstData(parts);
  return firstText(parts) ?? (data === undefined ? whatIsWaitedFor(node) : JSON.stringify(data));
}

function whatIsWaitedFor({ id, wantsAuth }: NodeRun): string {
  return `Node "${id}" waits for ${wantsAuth ? 'authentication' : 'input'}`;
}

/** A node's question as the run asks it. @param more said of it: who only asks for the Task sees nothing else */
export function askingMessage(reference: TaskReference, node: NodeRun, more: JsonObject): Message {
  const name = { [NODE_KEY]: node.instance, ...more };
  const asks = asksOf(node);
  if (!asks) return agentMessage(reference, question(node), name);
  const message = formMessage(reference, question(node), asks);
  return { ...message, metadata: { ...name, ...message.metadata } };
}

/**
 * Returns the metadata of a status that asks: all questions while they are few. Of many it names those that are new, as
 * far as there is room, how many are open, and where all of them are: so what a run logs grows with its questions, and not
 * with their square.
 * @param runId of the run, whose instances that wait are listed
 * @param now when it says so: new ones are open since then
 */
export function waitingMetadata(
  graph: WorkflowGraph,
  waiting: readonly NodeRun[],
  { runId, now }: { runId: string; now: string },
): JsonObject {
  const all = fitting(graph, waiting, now);
  if (all.length === waiting.length) return { [WAITING_KEY]: all };
  const news = waiting.filter(({ isAsked, refused, asks }) => !isAsked || refused || asks?.violations);
  const list = `/api/runs/${runId}/instances?status=input-required`;
  return { [WAITING_KEY]: fitting(graph, news, now), [OPEN_KEY]: { count: waiting.length, inbox: '/api/inbox', list } };
}

/** The first questions, as far as there is room for them in a status; one at least. */
function fitting(graph: WorkflowGraph, nodes: readonly NodeRun[], now: string): JsonObject[] {
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

/** A question as an inbox keeps it. @param now as above */
export function openQuestion(graph: WorkflowGraph, node: NodeRun, now: string): TaskQuestion {
  const { instance: key, assignee, ...body } = waitingQuestion(graph, node, now);
  return {
    key,
    ...(assignee !== undefined && { assignee }),
    since: new Date(node.openSince ?? now),
    body: body as unknown as JsonObject,
  };
}

/** What is wrong with the Parts of an answer to a node: also those that are not what it asks for. */
export function answerFaults({ asks }: NodeRun, parts: readonly Part[]): FieldViolation[] {
  if (!asks) return [];
  const form = usable(asks.form);
  const strays = strayParts(form, parts);
  if (strays.length > 0) return strays;
  const read = readAnswer(form, parts);
  return 'violations' in read ? read.violations : [];
}

function waitingQuestion(graph: WorkflowGraph, node: NodeRun, now: string): WaitingQuestion {
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

/** What is said of the answer: also what was wrong with the one that the node's agent did not even take. */
function asksOf({ asks, refused }: NodeRun): FormQuestion | undefined {
  return refused ? { ...asks, violations: refused } : asks;
}

/** The run's own, where it has one. */
function deadlineOf(graph: WorkflowGraph, { id, openSince, asks }: NodeRun, now: string): string | undefined {
  const deadline = questionDeadline(graph.node(id), openSince ?? now);
  return deadline === undefined ? asks?.deadline : new Date(deadline).toISOString();
}

/** A form that is none, which an agent elsewhere may send, is left to that agent. */
function usable(form: JsonObject | undefined): InputSchema | undefined {
  try {
    return form && InputSchema.of(form);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
