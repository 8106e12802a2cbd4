import { isActiveState, isWaitingState, type StreamResponse, type TaskStatus } from '#libs/protocol';

/**
 * Tells where a turn went from where it came from: the answer to a follow-up begins with the Task as it is stored (section
 * 3.1.2), and that still waits as the turn before left it. Such a Task is no answer, however often it is told.
 */
export class TurnStart {
  private start: string | undefined;

  /**
   * @param begun true if whatever is told is of this turn, as where the Message made the Task
   * @param before status of the Task right before the Message; absent: the first that is told, if it waits
   */
  constructor(
    private begun: boolean,
    before?: TaskStatus,
  ) {
    this.start = before && JSON.stringify(before);
  }

  /** True if nothing but where the turn came from was told so far. */
  get isAll(): boolean {
    return !this.begun && this.start !== undefined;
  }

  /** Takes in what was told, and returns true if the turn is over: a direct Message, or a Task that has ended or waits. */
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
