import { firstText, type Message } from '#libs/protocol';

/** Question to the caller about a Task that the agent no longer knows, or a Message that it may not have received. */
export const QUESTION =
  'The agent no longer knows this task, or may not have received the message. Answer "resend" to send the message ' +
  'again, or "fail" to end the task.';
/** Answers to QUESTION. */
export const RESEND = 'resend';
export const FAIL = 'fail';

/** Returns the newest Message of the caller that is not an answer to this service's own QUESTION. */
export function lastMessage(history: readonly Message[]): Message | undefined {
  const isQuestion = (message: Message | undefined): boolean => firstText(message?.parts ?? []) === QUESTION;
  return history.findLast(({ role }, index) => role === 'ROLE_USER' && !isQuestion(history[index - 1]));
}
