import { appendFileSync } from 'node:fs';
import { firstText, type Message } from '#libs/protocol';

/** One Message that the agent acted on. */
export interface LoggedCall {
  messageId: string;
  /** Absent: it was answered without a Task. */
  taskId?: string;
  text: string;
  /** ISO 8601. */
  at: string;
  /** How many events of an execution that a crash had cut were found when it went on; absent otherwise. */
  recovered?: number;
}

/** Tells every call, so that somebody outside can count them. */
export class CallLog {
  /** @param path of a file that gets one JSON line per call, written before the agent acts; absent: standard error */
  constructor(private readonly path?: string) {}

  record(message: Message, execution?: { taskId: string; recovered: number }): void {
    const call: LoggedCall = {
      messageId: message.messageId,
      taskId: execution?.taskId,
      text: firstText(message.parts) ?? '',
      at: new Date().toISOString(),
      recovered: execution !== undefined && execution.recovered > 0 ? execution.recovered : undefined,
    };
    const line = `${JSON.stringify(call)}\n`;
    if (this.path === undefined) process.stderr.write(line);
    else appendFileSync(this.path, line);
  }
}
