import { format } from 'node:util';
import { Logger } from '@nestjs/common';

const logger = new Logger('Console');

/**
 * Redirects the `console` output of packages and plugins to the log, at level `warn`. The log is written to standard
 * error, and its readers parse every line as JSON.
 */
export function logConsole(): void {
  for (const name of ['error', 'warn', 'trace'] as const) {
    console[name] = (...values: unknown[]) => {
      const err = values.find((value) => value instanceof Error);
      if (err) logger.warn({ err }, err.message);
      else logger.warn(format(...values));
    };
  }
}
