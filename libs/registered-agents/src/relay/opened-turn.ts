import { randomUUID } from 'node:crypto';
import type { RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import type { RelayedTurn, TaskEvent } from '#libs/tasks';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { type RelayServices, talkOf, turnOptions } from './relay-request.js';
import type { StoredTurn, TurnOptions } from './relay-tasks.js';

/** Turn whose Message is durable. */
export interface OpenedTurn {
  turn: StoredTurn;
  /** True if an earlier execution began the turn. */
  isRecovered: boolean;
  /** Log of the Task so far; empty for a new Task. */
  log: readonly TaskEvent[];
  /**
   * Time, by `performance.now()`, shortly before this execution stored the Message with its new Task; -Infinity for any
   * other Message. For a short while after that time, calls need not prove again that this execution holds the claim.
   */
  acceptedAfter: number;
}

/**
 * Returns the turn that an execution begins or resumes, once the Message of the turn is durable. Stores the turn first,
 * unless it is stored already.
 */
export async function openTurn(
  agent: RegisteredAgent,
  services: RelayServices,
  context: RequestContext,
): Promise<OpenedTurn> {
  const { relayed } = context;
  if (!relayed) return openStoredTurn(agent, services, context);
  const turn = await openNewTurn(services, context, relayed);
  return { turn, isRecovered: false, log: [], acceptedAfter: relayed.madeAt };
}

/**
 * Opens a turn that was stored in the commit of its new Task. If the caller named a context, finds the context that the
 * agent uses for it.
 */
async function openNewTurn(
  services: RelayServices,
  context: RequestContext,
  relayed: RelayedTurn,
): Promise<StoredTurn> {
  const begunAt = new Date();
  const findContext = (): Promise<string | undefined> => services.tasks.findContext(relayed);
  const [remoteContextId] = await Promise.all([
    relayed.isNewContext ? undefined : retryWhileUnreachable(findContext, context.signal),
    context.flush(),
  ]);
  return {
    options: JSON.parse(relayed.options) as TurnOptions,
    begunAt,
    ...(remoteContextId !== undefined && { remoteContextId }),
    isAnswer: false,
    isUnsent: false,
    hasWebhook: false,
  };
}

/** Opens the turn of a follow-up Message, or a turn that an earlier execution may have stored. */
async function openStoredTurn(
  agent: RegisteredAgent,
  services: RelayServices,
  context: RequestContext,
): Promise<OpenedTurn> {
  const { taskId, contextId, signal } = context;
  const log = await context.readTaskLog();
  const begun = {
    taskId,
    contextId,
    messageId: turnKey(context, log),
    options: turnOptions(agent.policy, context),
    execution: randomUUID(),
  };
  const talk = talkOf(agent, context);
  const storeTurn = async (): Promise<Pick<OpenedTurn, 'turn' | 'isRecovered'>> => {
    const turn = await services.tasks.beginTurn(talk, begun);
    if (turn) return { turn, isRecovered: false };
    const found = await services.tasks.findTurn(taskId);
    if (!found) throw new Error(`The turn of task ${taskId} vanished`);
    return { turn: found, isRecovered: true };
  };
  const [stored] = await Promise.all([retryWhileUnreachable(storeTurn, signal), context.flush()]);
  return { ...stored, log, acceptedAfter: -Infinity };
}

/**
 * Returns the key of a turn, which is the same for each execution of the turn. A caller may send several Messages with
 * the same id, so the key has the number of the Message in the log.
 */
function turnKey({ userMessage }: RequestContext, log: readonly TaskEvent[]): string {
  const number = log.filter((event) => 'statusUpdate' in event && event.received).length;
  return number === 0 ? userMessage.messageId : `${userMessage.messageId}#${number}`;
}
