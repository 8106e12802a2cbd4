import { Injectable, Logger } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { redactedUrl } from '#libs/protocol';
import { addCount, Metrics, Shutdown } from '#libs/service';
import {
  asksTheSame,
  childReference,
  LOOK_AT_REMOTE,
  type NextLook,
  nextLook,
  LOOK_BACKOFF,
  readRemoteLook,
  type RemoteLook,
} from '#libs/workflow-engine';

/** Stored state of a run, and of one question whose answer the run waits for. */
export interface LookPlace {
  /** True if the run has ended or no longer exists. */
  ended: boolean;
  /** True if a poll has found that the remote Task no longer asks the question. */
  movedOn: boolean;
}

/** Stores the results of polls, and the time slots for polling remote agents. All replicas share them. */
export abstract class RemoteLookStore {
  /** Returns the stored state of the polled question and its run. */
  abstract readPlace(look: RemoteLook): Promise<LookPlace>;

  /**
   * Enqueues the next poll of a question, unless another job has replaced the running job.
   * @returns false if another job has replaced it
   */
  abstract continueWith(next: NextLook): Promise<boolean>;

  /**
   * Reserves the next time slot for a poll of an agent. The slots of an agent are `spacing` milliseconds apart.
   * @returns the milliseconds until the slot
   */
  abstract reserveTurn(agent: string, spacing: number): Promise<number>;

  /** Stores that the remote Task no longer asks the question, unless another job has replaced the job of this poll. */
  abstract keepMovedOn(look: RemoteLook): Promise<void>;

  /** Makes a waiting run due, so that it resumes. @returns false if the run is not waiting for an answer */
  abstract wakeRun(runId: string): Promise<boolean>;

  /** Deletes the time slots of agents that have had none for more than an hour. */
  abstract forgetIdleAgents(): Promise<void>;
}

/** Interval between two polls of one origin, over all replicas, in milliseconds: at most 240 polls a minute. */
const LOOK_SPACING_MS = 250;
/**
 * A poll starts at once if its time slot is at most this many milliseconds away. A poll with a later slot is enqueued
 * for the time of that slot.
 */
const SOON_MS = 500;
/** Maximum time in milliseconds that an agent may take to answer a poll. */
const LOOK_MS = 5_000;
/**
 * Maximum number of concurrent polls of one origin in this process. A poll beyond the limit is skipped; the job for the
 * next poll is already enqueued.
 */
const LOOKS_AT_ORIGIN = 4;
/** Maximum number of concurrent polls in this process. */
const LOOKS_AT_ONCE = 32;
const TIDY = { name: 'runs.tidy-remote-looks', match: '41 * * * *' };

/**
 * Polls remote Tasks that have asked a run a question, because such a Task may resume without an answer from the run,
 * for example after a login. For local Tasks, see `RunWaking`.
 * - If a Task no longer asks the question, its run is resumed, even if a replica crashes meanwhile.
 * - If an agent is unreachable, rejects the poll, or has lost its Task, nothing changes.
 * - A poll occupies no slot of the job queue while it waits for the agent.
 */
@Injectable()
export class RemoteLooks {
  private readonly logger = new Logger(RemoteLooks.name);
  private readonly ending = new AbortController();
  private readonly underWay = new Map<string, number>();
  private readonly looks;
  private count = 0;

  constructor(
    jobs: Jobs,
    metrics: Metrics,
    shutdown: Shutdown,
    private readonly directory: AgentDirectory,
    private readonly store: RemoteLookStore,
  ) {
    this.looks = metrics.counter(
      'parley_remote_looks_total',
      'Looks at the tasks of agents elsewhere that a run waits for: unchanged, moved-on, failed, or put off',
      ['outcome'],
    );
    jobs.registerHandler(LOOK_AT_REMOTE, {
      read: readRemoteLook,
      run: async (look) => {
        if (!('over' in look)) await this.handleLook(look);
      },
    });
    scheduleUpkeep(jobs, TIDY, () => this.store.forgetIdleAgents());
    shutdown.registerStep('executions', async () => this.ending.abort());
  }

  /**
   * Enqueues the next poll and starts this poll.
   * - If the next free time slot of the agent's origin is more than SOON_MS away, reserves that slot and enqueues this
   *   poll for its time instead.
   * - If an earlier poll found that the Task no longer asks, resumes the run instead; while the run does not wait, only
   *   enqueues the next poll.
   * - Does nothing if the run has ended.
   */
  private async handleLook(look: RemoteLook): Promise<void> {
    const { ended, movedOn } = await this.store.readPlace(look);
    if (ended) return;
    const { reserved: _reserved, ...later } = { ...look, looks: look.looks + 1 };
    const next = nextLook(later, LOOK_BACKOFF.pauseAfter(later.looks));
    if (movedOn) {
      // An executing run may have checked before the result was stored, so it is resumed once it waits.
      if (!(await this.store.wakeRun(look.runId))) await this.store.continueWith(next);
      return;
    }
    const origin = originOf(look.agentUrl);
    if (look.reserved !== true) {
      const wait = await this.store.reserveTurn(origin, LOOK_SPACING_MS);
      if (wait > SOON_MS) {
        await this.store.continueWith(nextLook({ ...look, reserved: true }, wait));
        return;
      }
    }
    if (await this.store.continueWith(next)) this.startLook(look, origin);
  }

  private startLook(look: RemoteLook, origin: string): void {
    const atOrigin = this.underWay.get(origin) ?? 0;
    if (this.count >= LOOKS_AT_ONCE || atOrigin >= LOOKS_AT_ORIGIN) {
      this.looks.inc({ outcome: 'put-off' });
      return;
    }
    this.count += 1;
    addCount(this.underWay, origin, 1);
    void this.lookOnce(look).finally(() => {
      this.count -= 1;
      addCount(this.underWay, origin, -1);
    });
  }

  /** Polls a Task once. Never rejects, because the next poll is already enqueued. */
  private async lookOnce(look: RemoteLook): Promise<void> {
    try {
      const isSame = await this.asksTheSame(look);
      this.looks.inc({ outcome: isSame === undefined ? 'failed' : isSame ? 'unchanged' : 'moved-on' });
      if (isSame !== false) return;
      await this.store.keepMovedOn(look);
      await this.store.wakeRun(look.runId);
    } catch (error) {
      const { agentUrl, taskId, runId } = look;
      this.logger.warn(
        { err: error, runId, taskId, url: redactedUrl(agentUrl) },
        'The result of polling a remote task could not be stored',
      );
    }
  }

  /**
   * Queries a remote Task. Returns true if the Task still asks the question, false if it does not, and `undefined` if
   * the agent gives no usable answer.
   */
  private async asksTheSame(look: RemoteLook): Promise<boolean | undefined> {
    const { runId, node, attempt, taskId, agentUrl, scope, credential } = look;
    const options = {
      scope,
      parent: { taskId: runId, reference: childReference(node, attempt) },
      ...(credential !== undefined && { credential }),
      timeouts: { refused: 0, total: LOOK_MS },
      signal: AbortSignal.any([this.ending.signal, AbortSignal.timeout(LOOK_MS)]),
    };
    try {
      const client = await this.directory.resolveClient(agentUrl, options);
      return asksTheSame(look, await client.getTask(taskId, options));
    } catch {
      return undefined;
    }
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
