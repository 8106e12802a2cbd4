/**
 * Maximum number of lines of an error's message at the start of a failure, since a wait may log hundreds of attempts.
 */
const MOST_LINES = 40;

/**
 * Returns the failure of a test that looked at pages.
 * - Its message begins with the first 40 lines of the message of `error`, and ends with what the pages showed.
 * - Its stack is that of `error`: a report points at the step that failed.
 */
export function failureOnPages(error: unknown, shown: string): Error {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const said = message.split('\n').slice(0, MOST_LINES).join('\n').trimEnd();
  const failure = new Error(`${said}\n\n${shown}`);
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  failure.stack = [`${failure.name}: ${failure.message}`, ...frames.map(asNamed)].join('\n');
  return failure;
}

/** Rewrites a stack frame of an anonymous function, such as the body of a test, since jest omits such frames. */
function asNamed(frame: string): string {
  return frame.replace(/at (async )?<anonymous> \((.+)\)$/, 'at $1$2');
}
