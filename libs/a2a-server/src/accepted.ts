import type { Execution } from '#libs/executor';
import type { Message } from '#libs/protocol';

/** What became of a Message: a direct answer, or the execution of a Task. */
export type Accepted = { reply: Message } | { execution: Execution };
