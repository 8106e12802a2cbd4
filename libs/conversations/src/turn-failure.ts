import { AgentCallError, type AgentCallFailure, type CalledTask } from '#libs/a2a-client';
import { UnknownAgent } from '#libs/executor';
import { A2AError, briefText, firstText } from '#libs/protocol';
import { TIMEOUT, type TurnFailure } from './conversation.js';

const CODES: Record<AgentCallFailure, [code: string, retryable: boolean]> = {
  connect: ['AGENT_UNREACHABLE', true],
  timeout: [TIMEOUT, true],
  'server-error': ['AGENT_ERROR', true],
  'client-error': ['AGENT_ERROR', false],
  'rpc-error': ['AGENT_ERROR', false],
  unauthorized: ['AGENT_REFUSED_CALLER', false],
  credential: ['CREDENTIAL_UNUSABLE', false],
  'not-found': ['AGENT_ERROR', false],
  'invalid-response': ['INVALID_RESPONSE', false],
  refused: ['ADDRESS_REFUSED', false],
  'untrusted-card': ['CARD_UNTRUSTED', false],
  'changed-card': ['CARD_CHANGED', false],
  aborted: ['AGENT_ERROR', false],
};

/** The failure of an agent that used up its time. */
export function outOfTime(milliseconds: number): TurnFailure {
  return { code: TIMEOUT, message: `not finished within ${milliseconds} ms`, retryable: true };
}

/** Why a call failed, for callers to read; `undefined` where that is our own fault and nobody's business. */
export function callFailure(error: unknown): TurnFailure | undefined {
  if (error instanceof UnknownAgent) return { code: 'AGENT_NOT_FOUND', message: error.message, retryable: false };
  const refusal = refusalOf(error);
  if (refusal) return { code: refusal.detailReason ?? 'AGENT_ERROR', message: refusal.message, retryable: false };
  if (!(error instanceof AgentCallError)) return undefined;
  const [code, retryable] = CODES[error.kind];
  return { code, message: error.message, retryable };
}

/** Why an agent's answer is no turn; `undefined` where it is one. */
export function answerFailure({ reply, state, status }: CalledTask): TurnFailure | undefined {
  const said = briefText(firstText(status?.message?.parts ?? [])?.trim() ?? '');
  const failure = (code: string, what: string): TurnFailure => {
    return { code, message: said ? `${what}: ${said}` : what, retryable: false };
  };
  if (reply) return undefined;
  switch (state) {
    case 'TASK_STATE_COMPLETED':
    case 'TASK_STATE_INPUT_REQUIRED':
      return undefined;
    case 'TASK_STATE_FAILED':
      return failure('AGENT_FAILED', 'the agent failed');
    case 'TASK_STATE_REJECTED':
      return failure('AGENT_REJECTED', 'the agent rejected the message');
    case 'TASK_STATE_CANCELED':
      return failure('AGENT_CANCELED', 'the agent canceled its task');
    case 'TASK_STATE_AUTH_REQUIRED':
      return failure('AUTH_REQUIRED', 'the agent wants somebody to authenticate');
    default:
      return failure('INVALID_RESPONSE', 'the agent did not finish its answer');
  }
}

/** The refusal of an agent of this process, which comes with its own reason. */
function refusalOf(error: unknown): A2AError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof A2AError) return cause;
  return undefined;
}
