import type { RequestContext } from '#libs/executor';
import type { ModelMessage } from '#libs/models';
import { untilReached } from '#libs/postgres';
import { contentLength, describedPart, isFilePart, type Part, textBefore, textPart } from '#libs/protocol';
import type { StoredTask, TaskHeader, TaskStore } from '#libs/tasks';
import type { AgentSettings } from './agent-settings.js';

/** Tasks that are read at once, and in all. */
const PAGE = 10;
const MOST_TURNS = 200;
/** Bytes of logs that are read at once; nothing is remembered beyond a turn whose log is larger. */
const MOST_BYTES = 4 * 1024 ** 2;
/** About so many characters are a token. */
const TOKEN = 4;

/** What an agent may remember of what was said before. */
export type Remembering = Pick<AgentSettings, 'history' | 'historyTokens'>;

/**
 * What was said earlier between an agent and an owner in the same context: the Message and the answer of each Task that
 * was completed before this one began, the newest as far as there is room for them. Reads what is stored, so the same
 * Task is given the same wherever it goes on. The calls of one run for one node are no turns of a talk.
 */
export class AgentMemory {
  constructor(private readonly store: Pick<TaskStore, 'header' | 'page'>) {}

  /** Waits for a database that is out of reach. */
  async earlier(context: RequestContext, { history, historyTokens }: Remembering): Promise<ModelMessage[]> {
    if (history === 'none' || historyTokens <= 0) return [];
    // A Task that has just begun is only known to the store when that is durable.
    await context.flush();
    return untilReached(() => this.read(context.taskId, historyTokens), context.signal);
  }

  private async read(taskId: string, historyTokens: number): Promise<ModelMessage[]> {
    const own = await this.store.header(taskId);
    if (!own) return [];
    const turns: ModelMessage[][] = [];
    let room = historyTokens * TOKEN;
    for await (const { task } of this.turns(own)) {
      const turn = messagesOf(task);
      room -= turn.reduce((sum, { parts }) => sum + contentLength(parts), 0);
      if (room < 0) break;
      turns.unshift(turn);
    }
    return turns.flat();
  }

  /** The newest first. */
  private async *turns(own: TaskHeader): AsyncGenerator<StoredTask> {
    const { tenant, owner, agent, contextId } = own;
    const filter = { scope: { tenant, owner }, agent, contextId, state: 'TASK_STATE_COMPLETED' as const };
    let before = { updatedAt: own.createdAt, taskId: own.taskId };
    for (let read = 0; read < MOST_TURNS; read += PAGE) {
      const page = await this.page({ ...filter, before });
      for (const stored of page.tasks) if (!isOfSameRun(own, stored.header)) yield stored;
      const last = page.tasks.at(-1)?.header;
      if (!page.more || !last) return;
      before = { updatedAt: last.updatedAt, taskId: last.taskId };
    }
  }

  private async page(query: Omit<Parameters<TaskStore['page']>[0], 'limit'>): ReturnType<TaskStore['page']> {
    const admit = async (bytes: number): Promise<void> => {
      if (bytes > MOST_BYTES) throw new TooMuch();
    };
    try {
      return await this.store.page(
        { ...query, urgent: true, artifacts: false, limit: PAGE },
        { bytes: MOST_BYTES, admit },
      );
    } catch (error) {
      if (error instanceof TooMuch) return { tasks: [], more: false };
      throw error;
    }
  }
}

class TooMuch extends Error {}

/** A run calls a node again for other iterations, items and attempts, which know nothing of each other. */
function isOfSameRun(own: TaskHeader, { parentTaskId, parentReference = '' }: TaskHeader): boolean {
  const node = own.agent.slice(own.agent.lastIndexOf('/') + 1);
  const called = textBefore(parentReference, '@[#');
  return own.parentTaskId !== undefined && parentTaskId === own.parentTaskId && called === node;
}

function messagesOf({ history = [], status }: StoredTask['task']): { role: 'user' | 'assistant'; parts: Part[] }[] {
  const [asked] = history;
  if (!asked || !status.message) return [];
  return [
    { role: 'user', parts: asked.parts.map(kept) },
    { role: 'assistant', parts: status.message.parts.map(kept) },
  ];
}

/** Of files a line about them is remembered. */
function kept(part: Part): Part {
  return isFilePart(part) ? textPart(describedPart(part)) : part;
}
