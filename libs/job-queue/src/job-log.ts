import { Logger as NestLogger } from '@nestjs/common';
import type { LogFunctionFactory, Logger } from 'graphile-worker';

/** Returns a logger that forwards the messages of the queue to the log. JobAttempts logs the failures of jobs. */
export async function jobLog(): Promise<Logger> {
  const queue = await import('graphile-worker');
  const log = new NestLogger('JobQueue');
  const createLogFunction: LogFunctionFactory = () => (level, message, meta) => {
    if (meta?.['failure'] === true) return;
    if (level === 'error' || level === 'warning') log.warn({ err: meta?.['error'] }, message);
    else log.debug(message);
  };
  return new queue.Logger(createLogFunction);
}
