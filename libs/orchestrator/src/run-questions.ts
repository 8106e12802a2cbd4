import { briefText, firstText, type JsonObject, type Part, textPart } from '#libs/protocol';
import type { TaskQuestion } from '#libs/tasks';
import type { NodeRun } from './node-run.js';

/** The status metadata key under which a run that waits says what its nodes ask. */
export const WAITING_KEY = 'parley/waiting';

/** So many questions stand in one status; the inbox has them all. */
const MOST_IN_STATUS = 100;

/** What a node asks, for those who answer. */
interface WaitingQuestion {
  node: string;
  /** What an answer names. */
  instance: string;
  text: string;
}

/** What a waiting node's agent asks for, in its own words where it said any. */
export function question(node: NodeRun): Part[] {
  const asked = node.question ?? [];
  return asked.length > 0
    ? asked
    : [textPart(`Node "${node.id}" waits for ${node.wantsAuth ? 'authentication' : 'input'}`)];
}

/** What a status says of the questions of a run. */
export function waitingMetadata(waiting: readonly NodeRun[]): JsonObject {
  return { [WAITING_KEY]: waiting.slice(0, MOST_IN_STATUS).map((node) => ({ ...waitingQuestion(node) })) };
}

/** A question as an inbox keeps it. */
export function openQuestion(node: NodeRun): TaskQuestion {
  const { instance: key, ...body } = waitingQuestion(node);
  return { key, since: node.askedAt ? new Date(node.askedAt) : new Date(), body };
}

function waitingQuestion(node: NodeRun): WaitingQuestion {
  const { id, instance } = node;
  return { node: id, instance, text: briefText(firstText(question(node)) ?? '') };
}
