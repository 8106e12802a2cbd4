import { Injectable } from '@nestjs/common';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import { Facts } from '#libs/service';
import type { JournalEntry, TaskHeader } from './task-store.js';

type WrittenEntry = Pick<JournalEntry, 'state' | 'updatedAt' | 'events'>;

const NODE_AGENT = /\/nodes\/([^/]+)$/;

/**
 * Emits the facts of committed events: ends (`task.settled`), questions (`question.asked`), and the facts that events
 * contain. Each is emitted once over all processes, by the one that committed the event.
 */
@Injectable()
export class TaskFacts {
  constructor(private readonly facts: Facts) {}

  /** Emits the facts of a written entry. */
  emitFacts({ state, updatedAt, events }: WrittenEntry, header: TaskHeader): void {
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
