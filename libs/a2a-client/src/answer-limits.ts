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
import type { AgentCallOptions } from './agent-client.js';

/**
 * Options of a call, with two members for its answer: `place` counts the memory that the answer takes, and `onSkipped`
 * is called for each skipped item.
 */
export type AccountedOptions = AgentCallOptions & { place?: AnswerPlace; onSkipped?: () => void };

/**
 * Number of characters that each Artifact counts in addition to its id and content, since many empty Artifacts also
 * take memory.
 */
const NAME_LENGTH = 256;

/**
 * Counts the characters of a remote agent's answer in one call against the limits of an Artifact and a Task. A limit
 * per event alone would not stop an endless series of events.
 */
export class AnswerSize {
  private readonly artifacts = new Map<string, number>();
  private total = 0;
  /** Sum of the lengths of all Artifact ids, plus NAME_LENGTH for each Artifact. `total` does not include this sum. */
  private names = 0;
  private exceeded = false;
  private skipped = 0;
  private content = false;
  private state: TaskState | undefined;

  /**
   * @param place account of the answer's memory, to which the number of characters counted so far is reported
   *   (`setKept`); absent: nothing is reported
   */
  constructor(
    private readonly limits: Pick<ContentLimits, 'artifact' | 'task'>,
    private readonly place?: AnswerPlace,
  ) {}

  /** True if the newest counted Artifact exceeded a limit, by its content or by the number of Artifacts. */
  get isExceeded(): boolean {
    return this.exceeded;
  }

  /** True if the agent has sent any content so far: an Artifact, or a Message with Parts. */
  get hasContent(): boolean {
    return this.content;
  }

  /** Counts an item of a stream that was skipped because it is not an item of A2A. */
  readonly noteSkipped = (): void => {
    this.skipped += 1;
  };

  /**
   * Checks at the end of the answer that a completed Task is not empty only because items of its stream were skipped.
   * @throws AgentCallError `invalid-response` if the Task is empty for that reason
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
   * Counts the content of a response. A Task replaces everything that was counted before it.
   * @throws AgentCallError `invalid-response` beyond the limits
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
/**
 * Number of pauses, each longer than the one before, until all further pauses take LATER_PAUSE_MS. Together they take
 * about twelve seconds, as long as another replica needs to take over a Task.
 */
const SHORT_PAUSES = 8;
const LATER_PAUSE_MS = 5_000;
/** Minimum duration of a stream, in milliseconds, after which the pauses start again with the shortest. */
const LASTING_MS = 10_000;

/**
 * Pauses before one Task's stream is opened again. They depend only on the streams' durations, not on what they
 * reported.
 *
 * - The stream is reopened at most ten times in 20 seconds.
 * - The first eight pauses grow from 100 ms to three seconds; later pauses take five seconds.
 * - After a stream of at least ten seconds the pauses begin with the shortest again.
 */
export class StreamPace {
  private ended = 0;
  private begun = 0;

  /** @param now monotonic clock, in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Records the time at which a stream is opened. */
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
 * Distinguishes the result of a turn from the Task as the previous turn left it. The answer to a Message for an
 * existing Task begins with the stored Task (section 3.1.2), which may still be in its waiting state. That Task is
 * not the result of the new turn, however often it is reported.
 */
export class TurnBoundary {
  private start: string | undefined;
  private atWork = false;
  private saidLast = false;

  /**
   * @param begun true if everything that is reported belongs to this turn, for example because the Message created the
   * Task
   * @param before status of the Task right before the Message; absent: the first reported status is used if it is a
   * waiting status
   */
  constructor(
    private begun: boolean,
    before?: TaskStatus,
  ) {
    this.start = before && JSON.stringify(before);
  }

  /**
   * True while the stream has reported only the Task in the waiting state that the previous turn left. False before
   * anything is reported.
   */
  get isUnchanged(): boolean {
    return !this.begun && this.start !== undefined;
  }

  /** True if the newest event is a Message. If the stream ends after it, there is no further answer. */
  get endsWithMessage(): boolean {
    return this.saidLast;
  }

  /**
   * Notes an event and returns true if the turn is over.
   *
   * - A Task that has ended or waits ends the turn.
   * - A Message ends the turn, unless a Task of this turn is at work: some agents send Messages beside their Task.
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

/** Returns the id of the Task that an event names; `undefined` for a Message. */
export function taskIdOf(event: StreamResponse): string | undefined {
  if ('task' in event) return event.task.id;
  if ('statusUpdate' in event) return event.statusUpdate.taskId;
  if ('artifactUpdate' in event) return event.artifactUpdate.taskId;
  return undefined;
}
