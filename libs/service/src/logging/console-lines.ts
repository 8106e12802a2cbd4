import { format } from 'node:util';
import { Logger } from '@nestjs/common';

const logger = new Logger('Console');

/**
 * What packages and plugins print to standard error by `console` becomes a line of the log, at level `warn`: the log
 * stands there, and whoever reads it takes every line for JSON.
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
