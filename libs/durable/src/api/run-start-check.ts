import { Injectable } from '@nestjs/common';
import { AgentCatalog, UnknownAgent } from '#libs/agents';
import { ParleyFault } from '#libs/faults';
import { ProblemError, ServiceAddress } from '#libs/http-server';
import { A2AError, dataPart, type JsonObject, textStart, userMessage } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** Maximum number of characters of the reason why a run did not start. */
const LONGEST_REASON = 1_000;

/** Checks the workflow and the inputs of runs that the service starts later, by itself. */
@Injectable()
export class RunStartCheck {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly address: ServiceAddress,
  ) {}

  /**
   * Requires that a workflow exists and takes the inputs.
   * @throws ProblemError 422 with an entry for `workflow`, or one for each wrong input
   */
  async requireRunnable(
    { workflow, inputs }: { workflow: string; inputs: JsonObject },
    { tenant, owner }: TaskScope,
  ): Promise<void> {
    const path = `workflows/${workflow}`;
    try {
      const agent = await this.catalog.inTenant(tenant).resolveAgent(path);
      const call = { scope: { tenant, owner }, agent: path, extensions: [], baseUrl: this.address.internalUrl };
      const request = { message: userMessage([dataPart(inputs)]) };
      await agent.executor.checkRequest?.(request, { ...call, namesInputs: true });
    } catch (error) {
      if (error instanceof UnknownAgent) throw startProblem('workflow', `the workflow "${workflow}" does not exist`);
      if (error instanceof A2AError && !error.retryable) throw toInputProblem(error);
      throw error;
    }
  }

  /**
   * Requires that a workflow exists.
   * @param path member of the body that names the workflow
   * @throws ProblemError 422
   */
  async requireWorkflow(workflow: string, { tenant }: Pick<TaskScope, 'tenant'>, path = 'workflow'): Promise<void> {
    try {
      await this.catalog.inTenant(tenant).resolveAgent(`workflows/${workflow}`);
    } catch (error) {
      if (error instanceof UnknownAgent) throw startProblem(path, `the workflow "${workflow}" does not exist`);
      throw error;
    }
  }
}

function toInputProblem(error: A2AError): ProblemError {
  const entries = error.violations.map(({ field, description }) => ({ path: field, detail: description }));
  return entries.length > 0
    ? new ProblemError(422, entries.map(({ detail }) => detail).join('; '), entries)
    : startProblem('inputs', error.message);
}

function startProblem(path: string, detail: string): ProblemError {
  return new ProblemError(422, detail, [{ path, detail }]);
}

/**
 * True if no later attempt at the start of a run can succeed. Errors that name no kind, such as those of the database,
 * may be temporary.
 */
export function isFinalStartFailure(error: unknown): boolean {
  return error instanceof ParleyFault && !error.retryable;
}

/** Returns the reason why the run of a workflow did not start, for the callers of its tenant. */
export function startFailureText(error: unknown, workflow: string): string {
  if (error instanceof UnknownAgent) return `The workflow "${workflow}" does not exist.`;
  const entries = error instanceof ProblemError ? error.errors.map(({ path, detail }) => `${path}: ${detail}`) : [];
  const known = error instanceof ParleyFault ? error.publicMessage : undefined;
  const text = entries.length > 0 ? entries.join('; ') : (known ?? 'The service could not start the run.');
  return textStart(text, LONGEST_REASON);
}
