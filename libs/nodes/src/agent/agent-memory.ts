import type { BrainstormEntries, ConversationEntries, RequestContext } from '#libs/executor';
import type { ModelMessage } from '#libs/models';
import { untilReached } from '#libs/postgres';
import { contentLength, describedPart, isFilePart, type Part, textBefore, textPart } from '#libs/protocol';
import type { StoredTask, TaskHeader, TaskStore } from '#libs/tasks';
import type { AgentSettings } from './agent-settings.js';
import { brainstormRequest } from './brainstorm-request.js';
import { type SaidMessage, saidMessages, TOKEN } from './said-texts.js';

/** Tasks that are read at once, and in all. */
const PAGE = 10;
const MOST_TURNS = 200;
/** Bytes of logs that are read at once; nothing is remembered beyond a turn whose log is larger. */
const MOST_BYTES = 4 * 1024 ** 2;

/** What an agent may remember of what was said before. */
export type Remembering = Pick<AgentSettings, 'history' | 'historyTokens'>;

/** Messages that an agent remembers, the oldest first. */
export interface Remembered {
  /** Tasks that `messages` are of; absent where the agent looks for none. */
  readonly taskIds?: readonly string[];
  readonly messages: readonly ModelMessage[];
}

export const NOTHING_REMEMBERED: Remembered = { messages: [] };

interface Turn {
  taskId: string;
  messages: SaidMessage[];
}

/**
 * What was said earlier between an agent and an owner in the same context: the Message and the answer of each Task that
 * was completed before this one began, the newest as far as there is room for them. The calls of one run for one node are
 * no turns of a talk, those of one conversation are; before the Message of such a turn comes what its entry says was said.
 *
 * - Which Tasks those are follows from the order of commits, whatever the clocks of replicas say.
 * - Tasks that the log of this one names are read again: a replica that adopts the Task remembers the same.
 */
export class AgentMemory {
  /**
   * @param entries absent where no conversation of this service calls
   * @param brainstorms absent where no brainstorm of this service calls
   */
  constructor(
    private readonly store: Pick<TaskStore, 'header' | 'completedBefore' | 'page'>,
    private readonly entries?: Pick<ConversationEntries, 'read'>,
    private readonly brainstorms?: Pick<BrainstormEntries, 'read'>,
  ) {}

  /**
   * Waits for a database that is out of reach.
   * @param noted ids of the Tasks that were chosen when the model was asked first
   */
  async earlier(
    context: RequestContext,
    { history, historyTokens }: Remembering,
    noted?: readonly string[],
  ): Promise<Remembered> {
    if (history === 'none' || historyTokens <= 0) return NOTHING_REMEMBERED;
    // A Task that has just begun is only known to the store when that is durable.
    await context.flush();
    const { taskId, signal, userMessage, call } = context;
    const inConversation = this.entries?.read(userMessage, call.scope) !== undefined;
    return untilReached(async () => {
      const own = await this.store.header(taskId);
      if (!own) return NOTHING_REMEMBERED;
      return remembered(noted ? await this.again(own, noted) : await this.choose(own, historyTokens, inConversation));
    }, signal);
  }

  /** The newest first, as far as there is room. */
  private async choose(own: TaskHeader, historyTokens: number, inConversation: boolean): Promise<Turn[]> {
    const before = await this.store.completedBefore(own.taskId, MOST_TURNS);
    const others = inConversation ? before : before.filter((header) => !isOfSameRun(own, header));
    const ids = others.map(({ taskId }) => taskId);
    const turns: Turn[] = [];
    let room = historyTokens * TOKEN;
    for await (const turn of this.turns(own, ids)) {
      room -= turn.messages.reduce((sum, { parts }) => sum + contentLength(parts), 0);
      if (room < 0) break;
      turns.push(turn);
    }
    return turns;
  }

  private again(own: TaskHeader, noted: readonly string[]): Promise<Turn[]> {
    return Array.fromAsync(this.turns(own, noted.toReversed()));
  }

  /** Yields turns in the order of the ids. Tasks that retention has deleted are left out. */
  private async *turns(own: TaskHeader, ids: readonly string[]): AsyncGenerator<Turn> {
    let limit = PAGE;
    for (let at = 0; at < ids.length;) {
      const wanted = ids.slice(at, at + limit);
      const { tasks, more } = await this.page(own, wanted);
      const read = new Map(tasks.map((stored) => [stored.header.taskId, stored]));
      // Together they are more than is read at once: those from the first that is missing are read next.
      const missing = more ? wanted.findIndex((taskId) => !read.has(taskId)) : -1;
      const taken = missing < 0 ? wanted : wanted.slice(0, missing);
      for (const taskId of taken) {
        const stored = read.get(taskId);
        if (stored) yield { taskId, messages: this.messagesOf(stored) };
      }
      if (taken.length === 0 && limit === 1) return;
      limit = taken.length === 0 ? 1 : PAGE;
      at += taken.length;
    }
  }

  private messagesOf({ header, task: { history = [], status } }: StoredTask): Turn['messages'] {
    const [asked] = history;
    if (!asked || !status.message) return [];
    const { parts } = brainstormRequest(asked, header, this.brainstorms) ?? asked;
    return [
      ...saidMessages(this.entries?.read(asked, header)),
      { role: 'user', parts: parts.map(kept) },
      { role: 'assistant', parts: status.message.parts.map(kept) },
    ];
  }

  /** Has `more` where the Tasks are more than is read at once. */
  private async page({ tenant, owner }: TaskHeader, taskIds: readonly string[]): ReturnType<TaskStore['page']> {
    const admit = async (bytes: number): Promise<void> => {
      if (bytes > MOST_BYTES) throw new TooMuch();
    };
    const query = { scope: { tenant, owner }, taskIds, urgent: true, artifacts: false, limit: PAGE };
    try {
      return await this.store.page(query, { bytes: MOST_BYTES, admit });
    } catch (error) {
      if (error instanceof TooMuch) return { tasks: [], more: true };
      throw error;
    }
  }
}

class TooMuch extends Error {}

/** @param turns the newest first */
function remembered(turns: readonly Turn[]): Remembered {
  const inOrder = turns.toReversed();
  return { taskIds: inOrder.map(({ taskId }) => taskId), messages: inOrder.flatMap(({ messages }) => messages) };
}

/** A run calls a node again for other iterations, items and attempts, which know nothing of each other. */
function isOfSameRun(own: TaskHeader, { parentTaskId, parentReference = '' }: TaskHeader): boolean {
  const node = own.agent.slice(own.agent.lastIndexOf('/') + 1);
  const called = textBefore(parentReference, '@[#');
  // What an agent calls as a tool (`tool#<id of the call>`) is one talk, whatever its node is named.
  const isOfRun = /#\d+$/.test(parentReference) && called === node;
  return own.parentTaskId !== undefined && parentTaskId === own.parentTaskId && isOfRun;
}

/** Replaces files with a line about them. */
function kept(part: Part): Part {
  return isFilePart(part) ? textPart(describedPart(part)) : part;
}
