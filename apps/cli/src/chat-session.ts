import { type AgentClient, CalledTask } from '#libs/a2a-client';
import {
  dataPart,
  type FormQuestion,
  formQuestion,
  isTerminalState,
  type JsonValue,
  type Part,
  type StreamResponse,
  type TaskState,
  textPart,
  userMessage,
} from '#libs/protocol';
import { formData } from './form-answer.js';
import type { Terminal } from './terminal.js';

/**
 * Text that an agent streams, for a reader who sees it grow: of the first Artifact that grows, as long as it has text
 * alone. An Artifact that arrives complete does not grow, and is shown with the answer.
 */
export class GrowingText {
  #artifactId: string | undefined;
  #text = '';
  #given = '';
  #isOver = false;

  /** Returns the next piece; '' if the response has none. */
  nextPiece(response: StreamResponse): string {
    if (this.#isOver || !('artifactUpdate' in response)) return '';
    const { artifact, append = false } = response.artifactUpdate;
    const isSame = artifact.artifactId === this.#artifactId;
    const isText = artifact.parts.every(({ text }) => text !== undefined);
    // Shown text cannot be taken back; the end of the answer shows the result.
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

/** Client state of a conversation. Every Message carries both ids once they are known. */
export interface ChatIds {
  contextId?: string;
  taskId?: string;
}

export interface ChatAnswer {
  text: string;
  /** State of the Task; absent if the agent answered without one. */
  state?: TaskState;
  taskId?: string;
  contextId?: string;
  /** Form of the answer that the agent waits for. */
  asks?: FormQuestion;
}

/** Listener for an answer in progress. */
interface ChatListener {
  /** Called with the agent's status while it works. */
  working(text: string): void;
  /** Called with the next piece of a text that the agent streams. */
  piece(text: string): void;
}

/**
 * Conversation with an agent, from its client's view: one Message at a time, and two ids that every response updates.
 * When the Task has ended, its id is forgotten: the next Message starts another Task in the same context. The agent may
 * remember earlier Messages; the client never sends them again.
 */
export class ChatSession {
  ids: ChatIds = {};
  private asks: FormQuestion | undefined;

  constructor(private readonly agent: AgentClient) {}

  /**
   * Sends a text. If the agent waits for a form, the text is sent as the form's data if it can be parsed as such.
   * @throws AgentCallError; the ids are unchanged then
   */
  async sayText(text: string, signal: AbortSignal, listener: ChatListener): Promise<ChatAnswer> {
    const { form } = this.asks ?? {};
    const data = form && formData(form, text);
    return this.sendPart(data === undefined ? textPart(text) : dataPart(data as JsonValue), signal, listener);
  }

  /** Sends a Part. @throws AgentCallError; the ids are unchanged then */
  async sendPart(part: Part, signal: AbortSignal, listener: ChatListener): Promise<ChatAnswer> {
    const message = userMessage([part], this.ids);
    const answer = new CalledTask();
    const growing = new GrowingText();
    let last: string | undefined;
    for await (const response of this.agent.sendMessage({ message }, { signal })) {
      answer.applyResponse(response);
      const piece = growing.nextPiece(response);
      if (piece !== '') listener.piece(piece);
      const said = answer.state === 'TASK_STATE_WORKING' ? partsText(answer.status?.message?.parts ?? []) : '';
      if (said !== '' && said !== last) listener.working(said);
      last = said;
    }
    const { reply, state } = answer;
    const isOver = state !== undefined && isTerminalState(state);
    this.asks = isOver || reply ? undefined : formQuestion(answer.status?.message);
    this.ids = reply ? idsOf(reply) : idsOf(isOver ? { contextId: answer.contextId } : answer);
    return {
      text: answerText(answer),
      ...idsOf(reply ?? answer),
      ...(reply === undefined && state !== undefined && { state }),
      ...(this.asks && { asks: this.asks }),
    };
  }

  /** Forgets the ids, so that the next Message starts a new conversation. */
  forgetIds(): void {
    this.ids = {};
    this.asks = undefined;
  }
}

function idsOf({ contextId, taskId }: { contextId?: string | undefined; taskId?: string | undefined }): ChatIds {
  return { ...(contextId !== undefined && { contextId }), ...(taskId !== undefined && { taskId }) };
}

/** Returns the agent's text: of the direct Message, else of its last status, else of its Artifacts. */
function answerText({ reply, status, artifacts }: CalledTask): string {
  const said = reply?.parts ?? status?.message?.parts ?? [];
  const shown = said.length > 0 ? [said] : artifacts.map(({ parts }) => parts);
  return shown.map(partsText).filter(Boolean).join('\n');
}

/** Returns the text of Parts. Adjacent text Parts are pieces of one text. */
function partsText(parts: readonly Part[]): string {
  return parts.reduce((before, part, index) => {
    const piece = partText(part);
    const goesOn = part.text !== undefined && parts[index - 1]?.text !== undefined;
    return before === '' || piece === '' || goesOn ? before + piece : `${before}\n${piece}`;
  }, '');
}

function partText({ text, data, url }: Part): string {
  return text ?? url ?? (data === undefined ? '' : JSON.stringify(data));
}

const PREFIX = 'agent> ';

/** Answer of an agent on a terminal: its text as it arrives, then the rest. For programs it is one document. */
export class ShownAnswer implements ChatListener {
  readonly #terminal: Terminal;
  #shown = '';
  #isOpen = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  working(text: string): void {
    // Only a terminal mixes both streams.
    if (this.#terminal.columns !== undefined) this.close();
    this.#terminal.writeNote(`… ${text}`);
  }

  piece(text: string): void {
    if (this.#terminal.json) return;
    this.#terminal.writePiece(`${this.#shown === '' ? PREFIX : ''}${this.#terminal.stripControls(text)}`);
    this.#shown += text;
    this.#isOpen = true;
  }

  /** Completes the answer. @param end text behind it */
  finishAnswer(answer: ChatAnswer, end: string): void {
    const rest = this.#restOf(answer.text);
    const isSaid = rest === '' && end === '' && !this.#isOpen;
    if (rest === undefined) this.close();
    this.#isOpen = false;
    if (!isSaid)
      this.#terminal.writeEntry(
        answer,
        () => `${rest ?? `${PREFIX}${this.#terminal.stripControls(answer.text)}`}${end}`,
      );
  }

  /** Ends an open line. */
  close(): void {
    if (this.#isOpen) this.#terminal.writeLine('');
    this.#isOpen = false;
  }

  /** Returns the text not yet shown; `undefined` if the answer differs from what was shown. */
  #restOf(text: string): string | undefined {
    if (this.#shown === '') return undefined;
    if (text.startsWith(this.#shown)) return this.#terminal.stripControls(text.slice(this.#shown.length));
    // The answer may begin with Artifacts of earlier turns of the Task.
    return text.endsWith(`\n${this.#shown}`) ? '' : undefined;
  }
}
