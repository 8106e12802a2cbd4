import {
  type Artifact,
  contentLength,
  isActiveState,
  isWaitingState,
  type StreamResponse,
  type Task,
  type TaskState,
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
  private skipped = 0;
  private content = false;
  private state: TaskState | undefined;

  /** @param place account for the bytes of the answer */
  constructor(
    private readonly limits: Pick<ContentLimits, 'artifact' | 'task'>,
    private readonly place?: AnswerPlace,
  ) {}

  /** True if the newest counted Artifact exceeded a limit, by its content or by the number of Artifacts. */
  get isExceeded(): boolean {
    return this.exceeded;
  }

  /** True if the agent has said anything so far: an Artifact or a Message with Parts. */
  get hasContent(): boolean {
    return this.content;
  }

  /** Notes an item of a stream that is not one of A2A, and was skipped. */
  readonly noteSkipped = (): void => {
    this.skipped += 1;
  };

  /**
   * Checks at the end of the answer that it is not empty only because its items were skipped. @throws AgentCallError
   * `invalid-response`
   */
  requireContent(): void {
    if (this.skipped === 0 || this.content || this.state !== 'TASK_STATE_COMPLETED') return;
    const items = this.skipped === 1 ? 'an item' : `${this.skipped} items`;
    throw new AgentCallError(
      'invalid-response',
      `the agent's answer is not A2A: ${items} of its stream cannot be read`,
    );
  }

  /**
   * Counts the Artifacts of an event. A Task replaces what was counted before. @throws AgentCallError
   * `invalid-response` beyond the limits
   */
  countResponse(response: StreamResponse): void {
    if ('artifactUpdate' in response)
      this.countArtifact(response.artifactUpdate.artifact, response.artifactUpdate.append);
    else if ('task' in response) this.recountTask(response.task);
    this.content ||= hasParts(response);
    this.state = stateOf(response) ?? this.state;
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
    const most = Math.max(this.total, this.names);
    this.exceeded = after > this.limits.artifact || most > this.limits.task;
    if (after > this.limits.artifact)
      throw tooLarge('an artifact of the agent', this.limits.artifact, 'ARTIFACT_LIMIT');
    if (most > this.limits.task) throw tooLarge("the agent's answer", this.limits.task, 'TASK_LIMIT');
  }
}

function hasParts(response: StreamResponse): boolean {
  if ('message' in response) return response.message.parts.length > 0;
  if ('artifactUpdate' in response) return response.artifactUpdate.artifact.parts.length > 0;
  const { message } = 'task' in response ? response.task.status : response.statusUpdate.status;
  if (message && message.parts.length > 0) return true;
  return 'task' in response && (response.task.artifacts ?? []).some(({ parts }) => parts.length > 0);
}

function stateOf(response: StreamResponse): TaskState | undefined {
  if ('task' in response) return response.task.status.state;
  return 'statusUpdate' in response ? response.statusUpdate.status.state : undefined;
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
  private atWork = false;
  private saidLast = false;

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

  /** True if the newest event is a Message. A stream that ends with one has no further answer. */
  get endsWithMessage(): boolean {
    return this.saidLast;
  }

  /**
   * Notes an event. @returns true if the turn is over: with a Task that has ended or waits, or with a Message, unless a
   * Task of this turn is at work: some agents send Messages beside it
   */
  isOver(event: StreamResponse): boolean {
    if (this.isStart(event)) return false;
    this.begun = true;
    this.saidLast = 'message' in event;
    if (this.saidLast) return !this.atWork;
    const isOver = isSettled(event);
    this.atWork = !isOver;
    return isOver;
  }

  private isStart(event: StreamResponse): boolean {
    if (this.begun || !('task' in event) || !isWaitingState(event.task.status.state)) return false;
    const status = JSON.stringify(event.task.status);
    this.start ??= status;
    return status === this.start;
  }
}

function isSettled(event: StreamResponse): boolean {
  if ('task' in event) return !isActiveState(event.task.status.state);
  return 'statusUpdate' in event && !isActiveState(event.statusUpdate.status.state);
}
