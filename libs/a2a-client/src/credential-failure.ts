import { AgentCallError } from './agent-call-error.js';

const DEEPEST_CAUSE = 8;

/**
 * Returns the text that a model may read of a failure whose message names a stored credential; `undefined` for any
 * other failure.
 * @param subject what was called, as the subject of a sentence
 */
export function withoutCredentialName(error: unknown, subject: string): string | undefined {
  const failure = credentialFailure(error);
  if (failure === undefined) return undefined;
  const reason = failure.kind === 'credential' ? 'is missing or cannot be used' : 'cannot be used for the moment';
  return `${subject} cannot be called now: its credential ${reason}`;
}

function credentialFailure(error: unknown): AgentCallError | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < DEEPEST_CAUSE; depth += 1) {
    if (cause instanceof AgentCallError && cause.ofCredential) return cause;
    cause = cause.cause;
  }
  return undefined;
}
