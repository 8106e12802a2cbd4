import { AgentCallError, type CalledTask } from '#libs/a2a-client';
import { UnknownAgent } from '#libs/agents';
import { type CallFailure, type CallFailureKind, type CallOutcome, withStatusText } from '#libs/durable';
import { A2AError, type Artifact, failureNote, type Part, spokenParts } from '#libs/protocol';
import { TIMEOUT, type TurnFailure, type TurnReply } from './conversation.js';

/** Skip token: an agent's answer that ends the conversation. */
export const REPLY_SKIP = 'REPLY_SKIP';
/** Skip token: an announcer's answer that delivers nothing. */
export const ANNOUNCE_SKIP = 'ANNOUNCE_SKIP';

/** True if a text is only the token, apart from white space around it. False if the text contains anything else. */
export function isToken(text: string, token: string): boolean {
  return text.trim() === token;
}

type Answer = Pick<CalledTask, 'reply' | 'artifacts' | 'status'> & Partial<Pick<CalledTask, 'lastMessage'>>;

/**
 * Returns the text of an agent's answer; the Parts of one source form one text.
 * - A direct Message is the only source.
 * - While the Task waits for input, the only source is its status Message, the question.
 * - Otherwise the sources are the Artifacts, then the last Message; the first one with a text counts.
 * - Without any text, data counts instead, as JSON.
 */
export function replyText({ reply, artifacts, status, lastMessage = status?.message }: Answer): string {
  const waiting = status?.state === 'TASK_STATE_INPUT_REQUIRED';
  const said = (waiting ? status.message : lastMessage)?.parts ?? [];
  const sources = reply ? [[reply.parts]] : waiting ? [[said]] : [artifacts.map(artifactParts), [said]];
  for (const kind of [spokenText, dataText]) {
    for (const source of sources) {
      const text = source.map(kind).filter(Boolean).join('\n\n');
      if (text.trim() !== '') return text;
    }
  }
  return '';
}

function artifactParts({ parts }: Artifact): Part[] {
  return parts;
}

function spokenText(parts: readonly Part[]): string {
  return spokenParts(parts)
    .map(({ text }) => text ?? '')
    .join('');
}

function dataText(parts: readonly Part[]): string {
  const data = parts.find((part) => part.data !== undefined)?.data;
  return data === undefined ? '' : JSON.stringify(data);
}

/**
 * Code of the failure of a turn whose agent could not be called because of the stored credential. The message of this
 * failure contains the credential's name, so it is replaced before a model reads it.
 */
export const CREDENTIAL_UNUSABLE = 'CREDENTIAL_UNUSABLE';

/** Code of the failure of a turn whose answer was truncated at the token limit of its model. */
const ANSWER_CUT = 'ANSWER_CUT';

const CODES: Record<CallFailureKind, string> = {
  connect: 'AGENT_UNREACHABLE',
  timeout: TIMEOUT,
  'server-error': 'AGENT_ERROR',
  'client-error': 'AGENT_ERROR',
  'rpc-error': 'AGENT_ERROR',
  unauthorized: 'AGENT_REFUSED_CALLER',
  credential: CREDENTIAL_UNUSABLE,
  'not-found': 'AGENT_ERROR',
  'invalid-response': 'INVALID_RESPONSE',
  refused: 'ADDRESS_REFUSED',
  'untrusted-card': 'CARD_UNTRUSTED',
  'changed-card': 'CARD_CHANGED',
  overloaded: 'OVERLOADED',
  aborted: 'AGENT_ERROR',
  failed: 'AGENT_FAILED',
  rejected: 'AGENT_REJECTED',
  internal: 'INTERNAL',
};

/**
 * Returns the reply to a turn: the agent's text, which may be a question, or the failure that callers see.
 * @param timeoutMs time limit of the turn, in milliseconds
 * @throws the cause of an internal fault
 */
export function replyOf(outcome: CallOutcome, timeoutMs: number): TurnReply {
  const { answer } = outcome;
  if (outcome.kind === 'failed') {
    const failure = toTurnFailure(outcome.failure, timeoutMs);
    const isCut = failure.code === CODES.failed && failureNote(answer.status?.message?.metadata)?.kind === 'cut';
    return { failure: isCut ? { ...failure, code: ANSWER_CUT } : failure };
  }
  if (answer.reply === undefined && answer.state === 'TASK_STATE_AUTH_REQUIRED') return { failure: wantsAuth(answer) };
  return { text: replyText(answer) };
}

function toTurnFailure(
  { kind, message, retryable, state, timedOut, cause }: CallFailure,
  timeoutMs: number,
): TurnFailure {
  if (kind === 'internal') throw cause;
  if (timedOut) return { code: TIMEOUT, message: `not finished within ${timeoutMs} ms`, retryable };
  if (cause instanceof AgentCallError && cause.ofCredential) return { code: CREDENTIAL_UNUSABLE, message, retryable };
  if (cause instanceof UnknownAgent) return { code: 'AGENT_NOT_FOUND', message, retryable };
  const refusal = refusalOf(cause);
  if (refusal) return { code: refusal.detailReason ?? 'AGENT_ERROR', message: refusal.message, retryable: false };
  return { code: state === 'TASK_STATE_CANCELED' ? 'AGENT_CANCELED' : CODES[kind], message, retryable };
}

function wantsAuth(answer: CalledTask): TurnFailure {
  const message = withStatusText(answer, 'the agent requires authentication by a person');
  return { code: 'AUTH_REQUIRED', message, retryable: false };
}

/**
 * Returns the first A2AError among an error and its causes; `undefined` if there is none. Such an error shows that an
 * agent of this process rejected the call.
 */
function refusalOf(error: unknown): A2AError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof A2AError) return cause;
  return undefined;
}
