import { ParleyError, ParleyUnreachable } from '#libs/client';
import { CommandError, EXIT, type ExitCode } from './exit-code.js';
import { Interrupted, ReaderGone, type Session } from './session.js';

/** Hint for the user about an error answer of the service, by HTTP status. */
const HINTS: Readonly<Record<number, string>> = {
  401: 'Set PARLEY_API_KEY to a valid key.',
  403: 'The key lacks a scope that this command requires.',
  412: 'Compare with `parley diff`, take it with `parley export`, or replace it with `parley apply --force`.',
};

const NOBODY = 'Start a service with `parley dev`, or name another with --url or PARLEY_URL.';

/** Reports the error of a failed command, with a hint if there is one. Returns the exit code. */
export function reportFailure(error: unknown, { terminal }: Session): ExitCode {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (error instanceof ReaderGone) return EXIT.done;
  if (error instanceof CommandError) {
    const { message, code, members } = error;
    terminal.writeError({ error: { reason: 'REFUSED', message, ...members } }, `parley: ${message}`);
    return code;
  }
  if (isOfSystem(error)) {
    terminal.writeError({ error: { reason: error.code, message: error.message } }, `parley: ${error.message}`);
    return EXIT.failed;
  }
  if (!(error instanceof ParleyError)) throw error;
  const { status, reason, message, errors, requestId } = error;
  const hint = error instanceof ParleyUnreachable ? NOBODY : HINTS[status];
  const details = errors
    .filter(({ detail }) => !message.includes(detail))
    .map(({ path, detail }) => `  ${path}: ${detail}`);
  terminal.writeError(
    { error: { status, reason, message, ...(errors.length > 0 && { errors }), ...(requestId && { requestId }) } },
    [`parley: ${message}`, ...details, ...(hint ? [hint] : [])].join('\n'),
  );
  return status === 422 || status === 400 ? EXIT.differs : EXIT.failed;
}

/** True for the error of a system call, such as one that opens a file. The message of such an error names the file. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}
