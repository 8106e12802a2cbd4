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

/** Characters counted for an Artifact beside its id, as much as its memory: a million empty Artifacts are too many. */
const NAME_LENGTH = 256;

/**
 * Total size of a remote agent's answer in one call. Each event is limited by itself; an endless series would still be
 * too large.
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

  /** True if an event exceeded the limits. */
  get isExceeded(): boolean {
    return this.exceeded;
  }

  /** Counts the size that an event adds. @throws AgentCallError `invalid-response` beyond the limits */
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
/** Number of growing pauses; they take twelve seconds together, as long as another replica needs to take over a Task. */
const SHORT_PAUSES = 8;
const LATER_PAUSE_MS = 5_000;
/** Duration in milliseconds from which a stream did not end early. */
const LASTING_MS = 10_000;

/**
 * Pace for reopening the stream of one Task, whatever it reported before it ended: at most ten times in 20 seconds.
 * Pauses grow from 100 ms to three seconds within twelve seconds, then last five seconds; after a stream of ten seconds
 * they are short again.
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

  /** Notes that the stream has ended. @returns milliseconds to wait before the next one */
  nextPause(): number {
    if (this.now() - this.begun >= LASTING_MS) this.ended = 0;
    this.ended += 1;
    return this.ended > SHORT_PAUSES ? LATER_PAUSE_MS : BACKOFF.pauseAfter(this.ended - 1);
  }
}

/**
 * Tells the result of a turn from its starting point. The answer to a follow-up begins with the stored Task (section
 * 3.1.2), which still waits as the previous turn left it; such a Task is no answer, however often it is reported.
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

  /** True if only the starting point was reported so far. */
  get isAll(): boolean {
    return !this.begun && this.start !== undefined;
  }

  /** Takes an event and returns true if the turn is over: with a direct Message, or a Task that has ended or waits. */
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
