import {
  type Artifact,
  contentLength,
  isActiveState,
  isWaitingState,
  type StreamResponse,
  type Task,
  type TaskStatus,
} from '#libs/protocol';
import { type AnswerPlace, Backoff, type ContentLimits } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';

/** Number of characters that an Artifact counts beside its id, for its memory: many empty Artifacts are too large. */
const NAME_LENGTH = 256;

/**
 * Counts the characters of a remote agent's answer in one call against the limits of an Artifact and a Task. The limit
 * of each event would not stop an endless series of events.
 */
export class AnswerSize {
  private readonly artifacts = new Map<string, number>();
  private total = 0;
  /** Size of the ids of Artifacts, which count apart from their content. */
  private names = 0;
  private exceeded = false;

  /** @param place account for the bytes of the answer */
  constructor(
    private readonly limits: Pick<ContentLimits, 'artifact' | 'task'>,
    private readonly place?: AnswerPlace,
  ) {}

  /** True if the newest counted Artifact exceeded a limit by its content. The limit of Artifact ids is not included. */
  get isExceeded(): boolean {
    return this.exceeded;
  }

  /**
   * Counts the Artifacts of an event. A Task replaces what was counted before. @throws AgentCallError
   * `invalid-response` beyond the limits
   */
  countResponse(response: StreamResponse): void {
    if ('artifactUpdate' in response)
      this.countArtifact(response.artifactUpdate.artifact, response.artifactUpdate.append);
    else if ('task' in response) this.recountTask(response.task);
    this.place?.setKept(this.total + this.names);
  }

  private recountTask({ artifacts = [] }: Task): void {
    this.artifacts.clear();
    this.total = 0;
    this.names = 0;
    for (const artifact of artifacts) this.countArtifact(artifact, false);
  }

  private countArtifact({ artifactId, parts }: Artifact, append: boolean | undefined): void {
    const before = this.artifacts.get(artifactId) ?? 0;
    const after = contentLength(parts) + (append ? before : 0);
    if (!this.artifacts.has(artifactId)) this.names += artifactId.length + NAME_LENGTH;
    this.artifacts.set(artifactId, after);
    this.total += after - before;
    this.exceeded = after > this.limits.artifact || this.total > this.limits.task;
    if (after > this.limits.artifact)
      throw tooLarge('an artifact of the agent', this.limits.artifact, 'ARTIFACT_LIMIT');
    if (Math.max(this.total, this.names) > this.limits.task)
      throw tooLarge("the agent's answer", this.limits.task, 'TASK_LIMIT');
  }
}

function tooLarge(what: string, limit: number, variable: string): AgentCallError {
  return new AgentCallError('invalid-response', `${what} has more than ${limit} characters (${variable})`);
}

const BACKOFF = new Backoff(100, 3_000);
/** Number of growing pauses. They take twelve seconds in all, as long as another replica needs to take over a Task. */
const SHORT_PAUSES = 8;
const LATER_PAUSE_MS = 5_000;
/** Minimum duration of a stream, in milliseconds, after which the pauses are short again. */
const LASTING_MS = 10_000;

/**
 * Pauses between reopenings of one Task's stream, whatever the stream reported before it ended.
 *
 * - The stream is reopened at most ten times in 20 seconds.
 * - The first eight pauses grow from 100 ms to three seconds; later pauses take five seconds.
 * - After a stream of at least ten seconds the pauses are short again.
 */
export class StreamPace {
  private ended = 0;
  private begun = 0;

  /** @param now monotonic clock, in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Notes that a stream is opened. */
  noteOpening(): void {
    this.begun = this.now();
  }

  /** Notes that the stream has ended. @returns milliseconds to wait before the next opening */
  nextPause(): number {
    if (this.now() - this.begun >= LASTING_MS) this.ended = 0;
    this.ended += 1;
    return this.ended > SHORT_PAUSES ? LATER_PAUSE_MS : BACKOFF.pauseAfter(this.ended - 1);
  }
}

/**
 * Distinguishes the result of a turn from the Task as the previous turn left it. The answer to a follow-up begins with
 * the stored Task (section 3.1.2), which may still wait. That Task is no answer, however often it is reported.
 */
export class TurnBoundary {
  private start: string | undefined;

  /**
   * @param begun true if everything reported belongs to this turn, as when the Message created the Task
   * @param before status of the Task right before the Message; absent: the first one reported, if it waits
   */
  constructor(
    private begun: boolean,
    before?: TaskStatus,
  ) {
    this.start = before && JSON.stringify(before);
  }

  /** True if only the Task as the previous turn left it was reported so far. */
  get isAll(): boolean {
    return !this.begun && this.start !== undefined;
  }

  /** Notes an event. @returns true if the turn is over: with a direct Message, or a Task that has ended or waits */
  isOver(event: StreamResponse): boolean {
    if (this.isStart(event)) return false;
    this.begun = true;
    return isSettled(event);
  }

  private isStart(event: StreamResponse): boolean {
    if (this.begun || !('task' in event) || !isWaitingState(event.task.status.state)) return false;
    const status = JSON.stringify(event.task.status);
    this.start ??= status;
    return status === this.start;
  }
}

function isSettled(event: StreamResponse): boolean {
  if ('message' in event) return true;
  if ('task' in event) return !isActiveState(event.task.status.state);
  return 'statusUpdate' in event && !isActiveState(event.statusUpdate.status.state);
}
