import { Injectable } from '@nestjs/common';
import { AgentCatalog, UnknownAgent } from '#libs/agents';
import type { Caller } from '#libs/access';
import { ServiceAddress, ProblemError } from '#libs/http-server';
import { A2AError, dataPart, userMessage } from '#libs/protocol';
import type { ScheduleDefinition } from '../storage/schedules.js';

/** Checks the workflow that a schedule names. */
@Injectable()
export class ScheduleCheck {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly address: ServiceAddress,
  ) {}

  /**
   * Requires that the workflow exists and takes the inputs.
   * @throws ProblemError 422 with an entry for `workflow`, or one for each wrong input
   */
  async requireRunnable({ workflow, inputs }: ScheduleDefinition, { tenant, owner }: Caller): Promise<void> {
    const path = `workflows/${workflow}`;
    try {
      const agent = await this.catalog.inTenant(tenant).resolveAgent(path);
      const call = { scope: { tenant, owner }, agent: path, extensions: [], baseUrl: this.address.internalUrl };
      const request = { message: userMessage([dataPart(inputs)]) };
      await agent.executor.checkRequest?.(request, { ...call, namesInputs: true });
    } catch (error) {
      if (error instanceof UnknownAgent) throw unrunnable('workflow', `the workflow "${workflow}" does not exist`);
      if (error instanceof A2AError && !error.retryable) throw toInputProblem(error);
      throw error;
    }
  }
}

function toInputProblem(error: A2AError): ProblemError {
  const entries = error.violations.map(({ field, description }) => ({ path: field, detail: description }));
  return entries.length > 0
    ? new ProblemError(422, entries.map(({ detail }) => detail).join('; '), entries)
    : unrunnable('inputs', error.message);
}

function unrunnable(path: string, detail: string): ProblemError {
  return new ProblemError(422, detail, [{ path, detail }]);
}
