import type { BrainstormEntries, ConversationEntries, RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import { contentLength, describedPart, isFilePart, type Part, textBefore, textPart } from '#libs/protocol';
import type { StoredTask, TaskHeader, TaskStore } from '#libs/tasks';
import { brainstormRequest, type Remembered, type SaidMessage, saidMessages, TOKEN } from './agent-log.js';
import type { AgentNodeSettings } from './agent-settings.js';

/** Maximum number of Tasks that one query reads. */
const PAGE = 10;
/** Maximum number of earlier Tasks that are considered for the memory. */
const MOST_TURNS = 200;
/**
 * Maximum number of bytes of logs that one query reads. A turn with a larger log, and all earlier turns, are not
 * remembered.
 */
const MOST_BYTES = 4 * 1024 ** 2;

/** Settings of the memory of an agent. */
export type Remembering = Pick<AgentNodeSettings, 'history' | 'historyTokens'>;

export const NOTHING_REMEMBERED: Remembered = { messages: [] };

interface RememberedTurn {
  taskId: string;
  messages: SaidMessage[];
}

/**
 * Reads the memory of an agent: its earlier turns with the same owner in the same context. A turn is the Message and
 * the answer of a Task that completed before this Task began. The newest turns that fit in `historyTokens` are used.
 * - Several calls that one run makes to the same node do not remember each other: they are independent, not a dialog.
 *   Calls that one conversation makes to the node are remembered.
 * - For a turn of a conversation, texts of the other agents (from the conversation entry) precede the Message.
 * - The order of commits decides which Tasks are earlier, so the clocks of replicas have no influence.
 * - If the log of this Task already names the remembered Tasks, the same Tasks are read again, so that a replica that
 *   adopts the Task gets the same memory.
 */
export class AgentMemory {
  /**
   * @param entries reads the data of conversations in Messages; absent if no conversation of this service calls agents
   * @param brainstorms reads the data of brainstorms in Messages; absent if no brainstorm of this service calls agents
   */
  constructor(
    private readonly store: Pick<TaskStore, 'readHeader' | 'completedBefore' | 'readPage'>,
    private readonly entries?: Pick<ConversationEntries, 'readEntry'>,
    private readonly brainstorms?: Pick<BrainstormEntries, 'readEntry'>,
  ) {}

  /**
   * Returns the remembered Messages. Waits while the database is unreachable.
   * @param noted ids of the Tasks that were chosen for the first model call, if the log already has them
   */
  async recallMessages(
    context: RequestContext,
    { history, historyTokens }: Remembering,
    noted?: readonly string[],
  ): Promise<Remembered> {
    if (history === 'none' || historyTokens <= 0) return NOTHING_REMEMBERED;
    // The store knows a new Task only once it is durable.
    await context.flush();
    const { taskId, signal, userMessage, call } = context;
    const inConversation = this.entries?.readEntry(userMessage, call.scope) !== undefined;
    return retryWhileUnreachable(async () => {
      const own = await this.store.readHeader(taskId);
      if (!own) return NOTHING_REMEMBERED;
      return toRemembered(
        noted ? await this.rereadTurns(own, noted) : await this.chooseTurns(own, historyTokens, inConversation),
      );
    }, signal);
  }

  /**
   * Returns the newest turns (each a Message and its answer) that fit in `historyTokens`, newest first.
   * @param own Task whose agent remembers the turns
   * @param inConversation true if `own` is a turn of a conversation; then earlier calls by the same run are included
   */
  private async chooseTurns(
    own: TaskHeader,
    historyTokens: number,
    inConversation: boolean,
  ): Promise<RememberedTurn[]> {
    const before = await this.store.completedBefore(own.taskId, MOST_TURNS);
    const others = inConversation ? before : before.filter((header) => !isOfSameRun(own, header));
    const ids = others.map(({ taskId }) => taskId);
    const turns: RememberedTurn[] = [];
    let room = historyTokens * TOKEN;
    for await (const turn of this.readTurns(own, ids)) {
      room -= turn.messages.reduce((sum, { parts }) => sum + contentLength(parts), 0);
      if (room < 0) break;
      turns.push(turn);
    }
    return turns;
  }

  private rereadTurns(own: TaskHeader, noted: readonly string[]): Promise<RememberedTurn[]> {
    return Array.fromAsync(this.readTurns(own, noted.toReversed()));
  }

  /** Yields the turns of Tasks, in the order of the ids. Tasks that were deleted after their retention are omitted. */
  private async *readTurns(own: TaskHeader, ids: readonly string[]): AsyncGenerator<RememberedTurn> {
    let limit = PAGE;
    for (let at = 0; at < ids.length;) {
      const wanted = ids.slice(at, at + limit);
      const { tasks, more } = await this.readTaskPage(own, wanted);
      const read = new Map(tasks.map((stored) => [stored.header.taskId, stored]));
      // If `more`, the Tasks together exceed the limit. Those from the first missing one on are read next.
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

  private messagesOf({ header, task: { history = [], status } }: StoredTask): RememberedTurn['messages'] {
    const [asked] = history;
    if (!asked || !status.message) return [];
    const { parts } = brainstormRequest(asked, header, this.brainstorms) ?? asked;
    return [
      ...saidMessages(this.entries?.readEntry(asked, header)),
      { role: 'user', parts: parts.map(describeFilePart) },
      { role: 'assistant', parts: status.message.parts.map(describeFilePart) },
    ];
  }

  /**
   * Reads one page of Tasks. `more` is true if further Tasks were not read because the logs together exceed MOST_BYTES.
   */
  private async readTaskPage(
    { tenant, owner }: TaskHeader,
    taskIds: readonly string[],
  ): ReturnType<TaskStore['readPage']> {
    const refuseLargeLogs = async (bytes: number): Promise<void> => {
      if (bytes > MOST_BYTES) throw new TooMuch();
    };
    const query = { scope: { tenant, owner }, taskIds, urgent: true, artifacts: false, limit: PAGE };
    try {
      return await this.store.readPage(query, { bytes: MOST_BYTES, admitBytes: refuseLargeLogs });
    } catch (error) {
      if (error instanceof TooMuch) return { tasks: [], more: true };
      throw error;
    }
  }
}

/** Error that stops a query because the read logs exceed MOST_BYTES. */
class TooMuch extends Error {}

/** Converts turns to the remembered Messages, oldest first. @param turns turns, newest first */
function toRemembered(turns: readonly RememberedTurn[]): Remembered {
  const inOrder = turns.toReversed();
  return { taskIds: inOrder.map(({ taskId }) => taskId), messages: inOrder.flatMap(({ messages }) => messages) };
}

/**
 * True if both Tasks come from calls that one run made to the same node: for different iterations, list entries or
 * attempts. Such calls are independent of each other.
 */
function isOfSameRun(own: TaskHeader, { parentTaskId, parentReference = '' }: TaskHeader): boolean {
  const node = own.agent.slice(own.agent.lastIndexOf('/') + 1);
  const called = textBefore(parentReference, '@[#');
  // Calls of an agent as a tool (`tool#<call id>`) are one dialog, whatever the name of the node.
  const isOfRun = /#\d+$/.test(parentReference) && called === node;
  return own.parentTaskId !== undefined && parentTaskId === own.parentTaskId && isOfRun;
}

/** Replaces a file Part by one line of text about the file. */
function describeFilePart(part: Part): Part {
  return isFilePart(part) ? textPart(describedPart(part)) : part;
}
