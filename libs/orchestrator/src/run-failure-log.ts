import { Logger } from '@nestjs/common';
import { briefText } from '#libs/protocol';
import type { RunFacts } from './run-facts.js';

const logger = new Logger('Runs');

/** Leaves one line for whoever operates the service: which run failed, at which node, and why, in the words of the run. */
export function logFailure(runId: string, { definition, error }: RunFacts, fault = error?.message ?? ''): void {
  const node = error?.node;
  const line = { runId, workflow: definition.name, ...(node !== undefined && { node }), cause: briefText(fault) };
  logger.warn(line, 'A run failed');
}
