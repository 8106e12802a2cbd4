import { Logger } from '@nestjs/common';

/**
 * Makes Nest's logger collect its lines from now on instead of printing them.
 * @returns the array that receives the lines, each as the arguments of its log call
 */
export function capturedLog(): unknown[][] {
  const lines: unknown[][] = [];
  const take = (...line: unknown[]): number => lines.push(line);
  Logger.overrideLogger({ log: take, error: take, warn: take });
  return lines;
}
