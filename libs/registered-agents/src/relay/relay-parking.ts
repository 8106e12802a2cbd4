import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { AgentCallError, type AgentClient } from '#libs/a2a-client';
import type { RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import { isActiveState, jsonDigest, type JsonObject, redactedUrl, type Task } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { DEFAULT_PARK_S } from '../agents/agent-policy.js';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { identityOf, type RelayServices } from './relay-request.js';
import type { StoredTurn } from './relay-tasks.js';
import type { TaskMirror } from './task-mirror.js';
import type { RelayWebhook } from './relay-webhooks.js';

const SECOND_MS = 1_000;
/** Maximum milliseconds for registering or deleting a webhook, and for reading the agent's Task. */
const CALL_MS = 15_000;
/** Seconds until the agent of a parked Task is polled first. */
const FIRST_POLL_S = 60;
/** Maximum seconds that a Task stays parked without a notification. */
const LONGEST_PARKED_S = 86_400;
/** Maximum number of webhooks that a process deletes at the same time. */
const MOST_DELETIONS = 64;
/** Length of the id of a push config, in hexadecimal digits. */
const ID_DIGITS = 32;

/**
 * Result of registering a webhook (`prepare`): `ready` if the agent has it, `later` if a further attempt may succeed,
 * `never` if the agent refuses webhooks.
 */
type Preparation = 'ready' | 'later' | 'never';

/**
 * Parks the Task of a turn, which then holds no connection, timer or execution: the agent's notification or a poll
 * resumes it in any replica.
 *
 * 1. The webhook is stored, then registered at the agent, while the stream is still open.
 * 2. The stream is closed, and the agent's Task is read once more: later events cause a notification.
 * 3. The Task is parked, unless a notification has come since that reading.
 */
export class RelayParking {
  private readonly logger = new Logger(RelayParking.name);
  private webhook: RelayWebhook | undefined;
  private isRefused = false;

  constructor(
    private readonly agent: RegisteredAgent,
    private readonly services: RelayServices,
    private readonly context: RequestContext,
    private readonly turn: StoredTurn,
  ) {}

  /**
   * Milliseconds without an event before the stream of the agent is closed and the Task is parked. `undefined` if
   * the Task must not be parked: the policy or the agent does not allow it, or too little time is left for the turn.
   */
  get quietMs(): number | undefined {
    const { agent, context, services } = this;
    const { park = DEFAULT_PARK_S } = agent.policy;
    const isOffered = agent.card.capabilities?.pushNotifications === true && context.leaveTask !== undefined;
    if (park === 0 || this.isRefused || !isOffered || !services.webhooks.isReachable) return undefined;
    if (this.limitLeft <= park) return undefined;
    return park * SECOND_MS;
  }

  /** Registers a webhook for the agent's Task at the agent. Never rejects. */
  async prepare(): Promise<Preparation> {
    const { turn, context, services } = this;
    const { remoteTaskId } = turn;
    if (remoteTaskId === undefined) return 'later';
    try {
      const webhook = await services.webhooks.createWebhook(context);
      if (webhook === undefined) return 'later';
      const { url, token } = webhook;
      turn.hasWebhook = true;
      const client = await this.resolveClient();
      await client.registerWebhook(
        { id: configId(context.taskId), taskId: remoteTaskId, url, token },
        this.callOptions(),
      );
      this.webhook = webhook;
      return 'ready';
    } catch (error) {
      return this.noteFailure(error);
    }
  }

  /**
   * Starts to delete the webhook at the agent, if one may have been registered. Call it after the end of the Task; does
   * not wait for the agent.
   */
  endWebhook(): void {
    const { agent, context, services, turn } = this;
    if (turn.hasWebhook) void deleteWebhook({ agent, context, services, turn });
  }

  /**
   * Reads the agent's Task, yields the events that the log lacks, and parks the Task. Returns if the Task cannot be
   * parked now: the agent's Task has ended or waits, the agent cannot be read, or a notification has come.
   * @throws ExecutionInterrupted if the Task is parked, or another replica has it
   */
  async *parkTask(mirror: TaskMirror): AsyncGenerator<TaskEvent, void, undefined> {
    const { context, services, webhook } = this;
    const { taskId, signal } = context;
    if (webhook === undefined) return;
    await retryWhileUnreachable(() => services.webhooks.clearNotice(taskId, webhook.key), signal);
    const task = await this.readTask();
    if (task === undefined || !isActiveState(task.status.state)) return;
    for (const event of mirror.toEvents({ task })) yield event;
    await context.flush();
    signal.throwIfAborted();
    const { limitLeft } = this;
    const wake = { wakeAfter: Math.min(limitLeft, LONGEST_PARKED_S), isOnTime: limitLeft <= LONGEST_PARKED_S };
    const state = { digest: taskDigest(task), pollPause: FIRST_POLL_S, ...wake };
    const parkOnce = (): Promise<boolean> => services.webhooks.parkTask(context, webhook.key, state);
    if (await retryWhileUnreachable(parkOnce, signal)) context.leaveTask?.();
    await context.assertClaimHeld();
  }

  /** Seconds until the time limit of the turn is reached. */
  private get limitLeft(): number {
    const { limit = Infinity } = this.agent.policy;
    return Math.max(limit - (Date.now() - this.turn.begunAt.getTime()) / SECOND_MS, 0);
  }

  /** Returns the agent's Task; `undefined` if it cannot be read. */
  private async readTask(): Promise<Task | undefined> {
    try {
      return await (await this.resolveClient()).getTask(this.turn.remoteTaskId!, this.callOptions());
    } catch (error) {
      this.context.signal.throwIfAborted();
      if (!(error instanceof AgentCallError)) throw error;
      return undefined;
    }
  }

  private resolveClient(): Promise<AgentClient> {
    return this.services.directory.resolveClient(this.agent.url, this.callOptions());
  }

  private callOptions() {
    const { agent, context, turn } = this;
    const timeouts = { refused: 0, firstEvent: CALL_MS, total: CALL_MS };
    return { ...identityOf(agent, context, turn.options), timeouts, signal: context.signal };
  }

  private noteFailure(error: unknown): Preparation {
    if (this.context.signal.aborted) return 'never';
    const { name, url } = this.agent;
    const isPassing = !(error instanceof AgentCallError) || PASSING.has(error.kind) || error.rateLimited === true;
    this.isRefused ||= !isPassing;
    const text = 'A registered agent takes no webhook for a task; the stream stays open';
    this.logger.debug({ err: error, agent: name, url: redactedUrl(url) }, text);
    return isPassing ? 'later' : 'never';
  }
}

/** Number of webhooks that this process deletes at the moment. */
let deletions = 0;

/**
 * Asks the agent once to delete the webhook of a Task, for at most CALL_MS; not at all while MOST_DELETIONS other
 * deletions run. A webhook that stays is harmless: its Task has ended, so notifications change nothing. Never rejects.
 */
export async function deleteWebhook({
  agent,
  context,
  services,
  turn,
}: {
  agent: RegisteredAgent;
  context: RequestContext;
  services: Pick<RelayServices, 'directory'>;
  turn: StoredTurn;
}): Promise<void> {
  const { remoteTaskId } = turn;
  if (remoteTaskId === undefined || deletions >= MOST_DELETIONS) return;
  deletions += 1;
  try {
    const options = {
      ...identityOf(agent, context, turn.options),
      timeouts: { refused: 0, firstEvent: CALL_MS, total: CALL_MS },
      signal: AbortSignal.timeout(CALL_MS),
    };
    const client = await services.directory.resolveClient(agent.url, options);
    await client.deleteWebhook({ id: configId(context.taskId), taskId: remoteTaskId }, options);
  } catch {
    // The agent deletes it with its Task, or calls it in vain.
  } finally {
    deletions -= 1;
  }
}

const PASSING: ReadonlySet<string> = new Set(['connect', 'server-error', 'timeout', 'overloaded']);

/**
 * Returns the digest of an agent's Task. A poll compares it with the digest at the time of parking, to find out if the
 * Task has changed.
 */
export function taskDigest(task: Task): string {
  return jsonDigest(task as unknown as JsonObject);
}

/** Returns the id of a Task's push config at the agent, which is always the same and does not reveal the Task's id. */
function configId(taskId: string): string {
  return `parley-${createHash('sha256').update(taskId).digest('hex').slice(0, ID_DIGITS)}`;
}

/**
 * Timer of an agent's stream: closes the stream once no event has come for `quietMs` and the webhook is registered, so
 * that the Task can be parked.
 */
export class QuietStream implements Disposable {
  /** True if this object has closed the stream. */
  isLeft = false;
  private timer: NodeJS.Timeout | undefined;
  private isBusy = false;
  private isOver = false;

  /** @param leave closes the stream */
  constructor(
    private readonly parking: Pick<RelayParking, 'quietMs' | 'prepare'>,
    private readonly leave: () => void,
  ) {}

  /** Restarts the wait of `quietMs`. Call it at the beginning of the stream, and after each event. */
  noteEvent(): void {
    clearTimeout(this.timer);
    const { quietMs } = this.parking;
    if (quietMs === undefined || this.isBusy || this.isOver) return;
    this.timer = setTimeout(() => void this.endQuiet(), quietMs).unref();
  }

  [Symbol.dispose](): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async endQuiet(): Promise<void> {
    this.isBusy = true;
    const preparation = await this.parking.prepare();
    this.isBusy = false;
    if (this.isOver) return;
    if (preparation !== 'ready') return this.noteEvent();
    this.isLeft = true;
    this.leave();
  }
}
