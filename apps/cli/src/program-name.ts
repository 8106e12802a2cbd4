/** Name of the package, for `npx --no parley-a2a`. */
export const PACKAGE = 'parley-a2a';

/**
 * Returns the words with which the user started this program: `parley`, or the words of npm if npm has started it and
 * `parley` may not be on the PATH.
 */
export function programName(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_command: command, npm_lifecycle_event: event } = env;
  if (command === 'exec') return `npx --no ${PACKAGE}`;
  return command === 'run-script' && event === 'parley' ? 'npm run parley --' : 'parley';
}
