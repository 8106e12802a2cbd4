import type { CalledTask } from '#libs/a2a-client';
import { type Artifact, type FormQuestion, isTerminalState, type Part, type TaskState } from '#libs/protocol';
import { toOneLine } from './terminal.js';

/** Ids of a chat's context and Task. Every Message carries the ids that are known by then. */
export interface ChatIds {
  contextId?: string;
  taskId?: string;
}

/** Answer of an agent to one Message. */
export interface ChatAnswer extends ChatIds {
  /**
   * Text of the Artifacts, or of the agent's last Message if there are no Artifacts. If the Task waits for an answer,
   * the agent's question is the end of the text.
   */
  text: string;
  /**
   * Text of the Task's last status. Absent if it adds nothing to `text`: the status has no text, the Task waits, or the
   * texts are equal and the Task did not fail.
   */
  message?: string;
  /** State of the answering Task; absent if the agent answered without a Task. */
  state?: TaskState;
  /** All Artifacts of the Task; absent if there are none. */
  artifacts?: Artifact[];
  /** Form of the answer that the agent waits for; absent if it waits for none. */
  asks?: FormQuestion;
}

/** Texts of Artifacts that were shown before, by id. */
export type ShownArtifacts = ReadonlyMap<string, string>;

/** True if the Task of an answer ended without success. */
export function isFailedAnswer({ state }: Pick<ChatAnswer, 'state'>): boolean {
  return state !== undefined && state !== 'TASK_STATE_COMPLETED' && isTerminalState(state);
}

/**
 * Reads the answer of an agent.
 * - A direct Message is the answer.
 * - The answer of a Task is its Artifacts, or its last Message if it has no Artifacts.
 * - The text of a waiting Task is its question, after the Artifacts of this turn.
 * - Artifacts that earlier turns have shown are left out of the text, unless the text would be empty without them.
 * @param before texts of the Artifacts that earlier turns have shown (`shown`), and the ids of the Artifacts that the
 * agent has sent in this turn (`updated`)
 */
export function readAnswer(
  { reply, status, artifacts, lastMessage, state }: CalledTask,
  before: { shown: ShownArtifacts; updated: ReadonlySet<string> },
): Pick<ChatAnswer, 'text' | 'message' | 'state' | 'artifacts'> {
  if (reply) return { text: partsText(reply.parts) };
  const isNew = (it: Artifact): boolean =>
    before.updated.has(it.artifactId) || before.shown.get(it.artifactId) !== partsText(it.parts);
  const fresh = joinTexts(artifacts.filter(isNew).map(({ parts }) => partsText(parts)));
  const last = partsText(lastMessage?.parts ?? []);
  const isWaiting = state !== undefined && !isTerminalState(state);
  const all = joinTexts(artifacts.map(({ parts }) => partsText(parts)));
  const text = isWaiting ? joinTexts([fresh, last]) : fresh || last || all;
  const message = partsText(status?.message?.parts ?? []);
  const isShown = isWaiting || (text === message && !isFailedAnswer({ ...(state && { state }) }));
  return {
    text,
    ...(message !== '' && !isShown && { message }),
    ...(state !== undefined && { state }),
    ...(artifacts.length > 0 && { artifacts }),
  };
}

/** Returns the texts of Artifacts by id. */
export function artifactTexts(artifacts: readonly Artifact[]): ShownArtifacts {
  return new Map(artifacts.map(({ artifactId, parts }) => [artifactId, partsText(parts)]));
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

/** Returns the text of Parts. Adjacent text Parts are pieces of one text; any other Part has a line of its own. */
export function partsText(parts: readonly Part[]): string {
  return parts.reduce((before, part, index) => {
    const piece = partText(part);
    const isContinued = part.text !== undefined && parts[index - 1]?.text !== undefined;
    return before === '' || piece === '' || isContinued ? before + piece : `${before}\n${piece}`;
  }, '');
}

function partText(part: Part): string {
  if (part.text !== undefined) return part.text;
  return part.data === undefined ? fileLine(part) : JSON.stringify(part.data);
}

/** Returns the line of a file: its name and media type, then its URL, or its size if the Part has the content. */
function fileLine({ raw, url, filename, mediaType }: Part): string {
  if (raw === undefined && url === undefined) return '';
  const size = raw === undefined ? undefined : `${Buffer.byteLength(raw, 'base64')} bytes`;
  const details = [mediaType, size].filter((it) => it !== undefined && it !== '').join(', ');
  const name = filename || (url === undefined ? 'file' : '');
  const place = url === undefined ? '' : toOneLine(url);
  return [toOneLine(name), details === '' ? '' : `(${toOneLine(details)})`, place].filter((it) => it !== '').join(' ');
}
