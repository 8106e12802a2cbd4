import { Logger } from '@nestjs/common';

/** Captures Nest's log from now on, so that a test can read its lines and the output of the test stays quiet. */
export function capturedLog(): unknown[][] {
  const lines: unknown[][] = [];
  const take = (...line: unknown[]): number => lines.push(line);
  Logger.overrideLogger({ log: take, error: take, warn: take });
  return lines;
}
