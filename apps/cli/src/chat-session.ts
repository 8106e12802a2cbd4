import { type AgentClient, CalledTask } from '#libs/a2a-client';
import {
  dataPart,
  type FormQuestion,
  formQuestion,
  isTerminalState,
  type JsonValue,
  type Part,
  type TaskState,
  textPart,
  userMessage,
} from '#libs/protocol';
import { formData } from './form-answer.js';
import { GrowingText } from './growing-text.js';

/** All that a client of a conversation remembers; every Message carries both where they are known. */
export interface ChatIds {
  contextId?: string;
  taskId?: string;
}

export interface ChatAnswer {
  text: string;
  /** Absent where the agent answered without a Task. */
  state?: TaskState;
  taskId?: string;
  contextId?: string;
  /** What it says of the answer that it waits for, beside the text. */
  asks?: FormQuestion;
}

/** Is told of an answer before it is whole. */
export interface ChatListener {
  /** What the agent says while it works. */
  working(text: string): void;
  /** The next piece of a text that it makes piece by piece. */
  piece(text: string): void;
}

/**
 * A conversation with an agent as its client sees it: one Message at a time, and the two ids, which are replaced from
 * every response. When the Task has ended its id is forgotten: the next Message is another Task of the same context, of
 * which the agent may know what was said before. The client never sends that.
 */
export class ChatSession {
  ids: ChatIds = {};
  private asks: FormQuestion | undefined;

  constructor(private readonly agent: AgentClient) {}

  /**
   * What answers a form is sent as its data, where it can be read so.
   * @throws AgentCallError; the ids are as they were
   */
  async say(text: string, signal: AbortSignal, listener: ChatListener): Promise<ChatAnswer> {
    const { form } = this.asks ?? {};
    const data = form && formData(form, text);
    return this.send(data === undefined ? textPart(text) : dataPart(data as JsonValue), signal, listener);
  }

  /** @throws as above */
  async send(part: Part, signal: AbortSignal, listener: ChatListener): Promise<ChatAnswer> {
    const message = userMessage([part], this.ids);
    const answer = new CalledTask();
    const growing = new GrowingText();
    let last: string | undefined;
    for await (const response of this.agent.send({ message }, { signal })) {
      answer.apply(response);
      const piece = growing.take(response);
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
      text: textOf(answer),
      ...idsOf(reply ?? answer),
      ...(reply === undefined && state !== undefined && { state }),
      ...(this.asks && { asks: this.asks }),
    };
  }

  /** Forgets the ids: the next Message begins a new conversation. */
  forget(): void {
    this.ids = {};
    this.asks = undefined;
  }
}

function idsOf({ contextId, taskId }: { contextId?: string | undefined; taskId?: string | undefined }): ChatIds {
  return { ...(contextId !== undefined && { contextId }), ...(taskId !== undefined && { taskId }) };
}

/** What the agent said: the direct Message, else its last word on the Task, else what it made. */
function textOf({ reply, status, artifacts }: CalledTask): string {
  const said = reply?.parts ?? status?.message?.parts ?? [];
  const shown = said.length > 0 ? [said] : artifacts.map(({ parts }) => parts);
  return shown.map(partsText).filter(Boolean).join('\n');
}

/** Text Parts in a row are pieces of one text. */
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
