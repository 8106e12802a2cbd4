import { type AgentClient, CalledTask } from '#libs/a2a-client';
import {
  type FormQuestion,
  formQuestion,
  isTerminalState,
  type Part,
  type StreamResponse,
  userMessage,
} from '#libs/protocol';
import {
  type ChatAnswer,
  type ChatIds,
  isFailedAnswer,
  partsText,
  readAnswer,
  artifactTexts,
  type ShownArtifacts,
} from './chat-answer.js';
import { answerPart, type Form, type GivenAnswer } from './form-answer.js';
import type { Terminal } from './terminal.js';

/**
 * Text of an answer as the agent streams it: the text of the first Artifact to which updates append, as long as that
 * Artifact has only text. An Artifact that arrives in one update is shown at the end of the answer.
 */
export class GrowingText {
  #artifactId: string | undefined;
  #text = '';
  #given = '';
  #isOver = false;

  /** Returns the next piece of the text; '' if the response adds none. */
  nextPiece(response: StreamResponse): string {
    if (this.#isOver || !('artifactUpdate' in response)) return '';
    const { artifact, append = false } = response.artifactUpdate;
    const isSame = artifact.artifactId === this.#artifactId;
    const isText = artifact.parts.every(({ text }) => text !== undefined);
    // Shown text cannot be taken back. The complete answer at the end shows the rest.
    this.#isOver = !isText || (this.#given !== '' && !(append && isSame));
    if (this.#isOver) return '';
    if (!append || !isSame) this.#text = '';
    this.#artifactId = artifact.artifactId;
    this.#text += artifact.parts.map(({ text }) => text).join('');
    if (!append) return '';
    const piece = this.#text.slice(this.#given.length);
    this.#given = this.#text;
    return piece;
  }
}

/** Listener for an answer in progress. */
interface ChatListener {
  /** Called with the agent's status while it works. */
  working(text: string): void;
  /** Called with the next piece of a text that the agent streams. */
  piece(text: string): void;
}

/**
 * Chat with an agent from the client's view. It sends one Message at a time.
 * - Every response updates the ids of the context and the Task.
 * - After the end of the Task its id is dropped: the next Message starts a new Task in the same context.
 * - The agent may remember earlier Messages; the client never sends them again.
 */
export class ChatSession {
  ids: ChatIds = {};
  private asks: FormQuestion | undefined;
  /** Artifacts that earlier turns of the Task have shown. */
  private shown: ShownArtifacts = new Map();

  constructor(private readonly agent: AgentClient) {}

  /**
   * Resumes the chat at a Task, and reads the form that the Task waits for. Does not throw if the Task cannot be read:
   * the chat then continues without a form, and sending the next Message reports the error.
   */
  async resumeTask(taskId: string, signal: AbortSignal): Promise<void> {
    this.ids = { ...this.ids, taskId };
    const task = await this.agent.getTask(taskId, { signal }).catch(() => undefined);
    this.asks = formQuestion(task?.status.message);
    this.shown = artifactTexts(task?.artifacts ?? []);
  }

  /**
   * Sends a Message: an answer to the form that the agent waits for, or any other text or data.
   * @throws CommandError if the agent waits for a form and the answer does not fit it; nothing is sent then
   * @throws AgentCallError if the call fails; the ids of the chat are unchanged then
   */
  async sendAnswer(given: GivenAnswer, signal: AbortSignal, listener: ChatListener): Promise<ChatAnswer> {
    return this.sendPart(answerPart(this.asks?.form as Form | undefined, given), signal, listener);
  }

  /** Sends a Message with one Part. @throws AgentCallError if the call fails; the ids of the chat are unchanged then */
  async sendPart(part: Part, signal: AbortSignal, listener: ChatListener): Promise<ChatAnswer> {
    const message = userMessage([part], this.ids);
    const answer = new CalledTask();
    const growing = new GrowingText();
    const updated = new Set<string>();
    let last: string | undefined;
    for await (const response of this.agent.sendMessage({ message }, { signal })) {
      answer.applyResponse(response);
      if ('artifactUpdate' in response) updated.add(response.artifactUpdate.artifact.artifactId);
      const piece = growing.nextPiece(response);
      if (piece !== '') listener.piece(piece);
      const said = answer.state === 'TASK_STATE_WORKING' ? partsText(answer.status?.message?.parts ?? []) : '';
      if (said !== '' && said !== last) listener.working(said);
      last = said;
    }
    const { reply, state } = answer;
    const isOver = state !== undefined && isTerminalState(state);
    this.asks = isOver || reply ? undefined : formQuestion(answer.status?.message);
    const found = readAnswer(answer, { shown: this.shown, updated });
    this.ids = idsOf(reply ?? (isOver ? { contextId: answer.contextId } : answer));
    this.shown = isOver || reply ? new Map() : artifactTexts(answer.artifacts);
    return { ...found, ...idsOf(reply ?? answer), ...(this.asks && { asks: this.asks }) };
  }

  /** Drops the ids, so that the next Message starts a new context. */
  forgetIds(): void {
    this.ids = {};
    this.asks = undefined;
    this.shown = new Map();
  }
}

function idsOf({ contextId, taskId }: { contextId?: string | undefined; taskId?: string | undefined }): ChatIds {
  return { ...(contextId !== undefined && { contextId }), ...(taskId !== undefined && { taskId }) };
}

const PREFIX = 'agent> ';

/**
 * Shows an agent's answer on a terminal: its text as it arrives, then the rest. With `--json` it writes one document.
 */
export class ShownAnswer implements ChatListener {
  readonly #terminal: Terminal;
  #shown = '';
  #isOpen = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  working(text: string): void {
    // Only a terminal shows standard output and standard error together.
    if (this.#terminal.columns !== undefined) this.close();
    this.#terminal.writeNote(`… ${text}`);
  }

  piece(text: string): void {
    if (this.#terminal.json) return;
    this.#terminal.writePiece(`${this.#shown === '' ? PREFIX : ''}${this.#terminal.stripControls(text)}`);
    this.#shown += text;
    this.#isOpen = true;
  }

  /**
   * Shows the rest of an answer, followed by the text `end`. The reason of a failure, and a status text that is not
   * part of the answer (`message`), go to standard error.
   */
  finishAnswer(answer: ChatAnswer, end: string): void {
    const { text, message } = answer;
    const isFailed = isFailedAnswer(answer);
    if (this.#terminal.json || message === undefined) return this.#finishText(answer, text, end);
    if (!isFailed || text !== message) this.#finishText(answer, text, isFailed ? '' : end);
    else this.close();
    this.#terminal.writeNote(isFailed ? `${PREFIX}${message}${end}` : `… ${message}`);
  }

  #finishText(answer: ChatAnswer, text: string, end: string): void {
    const rest = this.#restOf(text);
    const isSaid = rest === '' && end === '' && !this.#isOpen;
    if (rest === undefined) this.close();
    this.#isOpen = false;
    if (!isSaid)
      this.#terminal.writeEntry(answer, () => `${rest ?? `${PREFIX}${this.#terminal.stripControls(text)}`}${end}`);
  }

  /** Ends the line if pieces of text have begun one. */
  close(): void {
    if (this.#isOpen) this.#terminal.writeLine('');
    this.#isOpen = false;
  }

  /**
   * Returns the part of an answer's text that is not on the terminal yet; '' if the text ends with what was shown.
   * Returns `undefined` if nothing was shown, or if the text does not contain what was shown at its beginning or end.
   * The caller then shows the whole text.
   */
  #restOf(text: string): string | undefined {
    if (this.#shown === '') return undefined;
    if (text.startsWith(this.#shown)) return this.#terminal.stripControls(text.slice(this.#shown.length));
    // The answer may begin with Artifacts of earlier turns of the Task.
    return text.endsWith(`\n${this.#shown}`) ? '' : undefined;
  }
}
