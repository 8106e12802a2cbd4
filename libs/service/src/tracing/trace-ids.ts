import { Injectable } from '@nestjs/common';

/** Finds the traces of Tasks that execute in this process, for log lines that name a Task. */
@Injectable()
export class TraceIds {
  private findTrace: (taskId: string) => string | undefined = () => undefined;

  /** @param find called for each log line that names a Task */
  lookIn(find: (taskId: string) => string | undefined): void {
    this.findTrace = find;
  }

  /** Adds `trace_id` to a log line that names a traced Task, unless the line has one. */
  addTraceId(line: Record<string, unknown>): Record<string, unknown> {
    const taskId = line['taskId'] ?? line['runId'];
    if (typeof taskId !== 'string' || 'trace_id' in line) return line;
    const traceId = this.findTrace(taskId);
    return traceId === undefined ? line : { ...line, trace_id: traceId };
  }
}
