import { Logger } from '@nestjs/common';

/** Takes Nest's log from now on, so that a test can look at its lines and its output stays quiet. */
export function capturedLog(): unknown[][] {
  const lines: unknown[][] = [];
  const take = (...line: unknown[]): number => lines.push(line);
  Logger.overrideLogger({ log: take, error: take, warn: take });
  return lines;
}
