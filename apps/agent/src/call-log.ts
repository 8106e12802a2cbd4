import { appendFileSync } from 'node:fs';
import { firstText, type Message } from '#libs/protocol';

/** Message that the agent acted on. */
export interface CallLogLine {
  messageId: string;
  /** Id of the Task; absent if the Message was answered without one. */
  taskId?: string;
  text: string;
  /** ISO 8601. */
  at: string;
  /** Number of events that an interrupted execution had left when it resumed; absent otherwise. */
  recovered?: number;
}

/** Logs every call, so that a test outside can count them. */
export class CallLog {
  /** @param path file for one JSON line per call, written before the agent acts; standard error if absent */
  constructor(private readonly path?: string) {}

  recordCall(message: Message, execution?: { taskId: string; recovered: number }): void {
    const call: CallLogLine = {
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
