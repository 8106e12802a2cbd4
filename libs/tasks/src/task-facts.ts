import { Injectable } from '@nestjs/common';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import { Facts } from '#libs/service';
import type { JournalEntry, TaskHeader } from './task-store.js';

type WrittenEntry = Pick<JournalEntry, 'state' | 'updatedAt' | 'events'>;

const NODE_AGENT = /\/nodes\/([^/]+)$/;

/**
 * Tells of the ends and questions of Tasks (`task.settled`, `question.asked`), and the facts that their events bring, each
 * once over all processes: here, where it was this one that committed it.
 */
@Injectable()
export class TaskFacts {
  constructor(private readonly facts: Facts) {}

  /** An entry was written. */
  written({ state, updatedAt, events }: WrittenEntry, header: TaskHeader): void {
    for (const { event } of events) {
      if ('statusUpdate' in event && event.facts) for (const fact of event.facts) this.facts.emitNamed(fact);
    }
    const { taskId, contextId, agent, tenant, owner, parentTaskId, createdAt } = header;
    const task = { taskId, contextId, agent, tenant, owner, state };
    if (isTerminalState(state)) {
      const parent = parentTaskId === undefined ? {} : { parentTaskId };
      this.facts.emit('task.settled', { ...task, ...parent, createdAt, settledAt: updatedAt });
    } else if (isWaitingState(state)) {
      const node = NODE_AGENT.exec(agent)?.[1];
      this.facts.emit('question.asked', { ...task, ...(node !== undefined && { node }) });
    }
  }
}
