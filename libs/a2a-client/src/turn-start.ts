import { isActiveState, isWaitingState, type StreamResponse, type TaskStatus } from '#libs/protocol';

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
