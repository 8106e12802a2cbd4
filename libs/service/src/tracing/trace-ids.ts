import { Injectable } from '@nestjs/common';

/** Finds the traces that Tasks at work in this process belong to, for lines of the log that name one. */
@Injectable()
export class TraceIds {
  private find: (taskId: string) => string | undefined = () => undefined;

  /** @param find asked whenever a line names a Task */
  lookIn(find: (taskId: string) => string | undefined): void {
    this.find = find;
  }

  /** A line with `trace_id`, where it names a Task that has one and does not name a trace itself. */
  added(line: Record<string, unknown>): Record<string, unknown> {
    const taskId = line['taskId'] ?? line['runId'];
    if (typeof taskId !== 'string' || 'trace_id' in line) return line;
    const traceId = this.find(taskId);
    return traceId === undefined ? line : { ...line, trace_id: traceId };
  }
}
