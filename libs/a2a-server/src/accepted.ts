import type { Execution } from '#libs/executor';
import type { Message } from '#libs/protocol';

/** Result of accepting a Message: a direct answer, or the execution of a Task. */
export type AcceptedMessage = { reply: Message } | { execution: Execution };
