import { ParleyError, ParleyUnreachable } from '#libs/client';
import { CommandError, EXIT, type ExitCode } from './exit-code.js';
import { Interrupted, type Session } from './session.js';

/** What to do about answers of the service, by status. */
const HINTS: Readonly<Record<number, string>> = {
  401: 'PARLEY_API_KEY says who calls.',
  403: 'The key lacks a scope that this needs.',
  412: 'See what differs with `parley diff`, take it with `parley export`, or replace it with `parley apply --force`.',
};

/** Tells why a command could not do what was asked, and what may help; gives the exit code. */
export function failure(error: unknown, { terminal, url }: Session): ExitCode {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (error instanceof CommandError) {
    terminal.error({ error: { reason: 'REFUSED', message: error.message } }, `parley: ${error.message}`);
    return error.code;
  }
  if (!(error instanceof ParleyError)) throw error;
  const { status, reason, message, errors, requestId } = error;
  const hint =
    error instanceof ParleyUnreachable
      ? `Nobody answers at ${url}. \`parley dev\` starts a service; --url or PARLEY_URL names another.`
      : HINTS[status];
  const details = errors
    .filter(({ detail }) => !message.includes(detail))
    .map(({ path, detail }) => `  ${path}: ${detail}`);
  terminal.error(
    { error: { status, reason, message, ...(errors.length > 0 && { errors }), ...(requestId && { requestId }) } },
    [`parley: ${message}`, ...details, ...(hint ? [hint] : [])].join('\n'),
  );
  return status === 422 || status === 400 ? EXIT.differs : EXIT.failed;
}
