import { Injectable, Optional } from '@nestjs/common';
import { NodeTypes } from '#libs/executor';
import { ProblemError } from '#libs/http';
import { AgentReferences } from '#libs/process';
import { findAgentToolProblems, ToolServers } from '../agent-tool-problems.js';
import { resolveNamedChildren } from '../child-workflows.js';
import { findBodyProblems, findOwnProblems, isError, turnIfLarge } from '../definition-check.js';
import type { SavedWorkflows } from '../saved-workflows.js';
import type { WorkflowDefinition } from '../workflow.js';
import type { WorkflowProblem } from '../workflow-problem.js';
import type { WorkflowStore } from '../workflow-store.js';
import { definitionOf, type WorkflowBody } from './workflow-body.js';

/** A definition that may be saved, with its warnings. */
export interface CheckedWorkflow {
  definition: WorkflowDefinition;
  warnings: WorkflowProblem[];
}

/** The tenant for which definitions are checked. */
export interface SavingTenant {
  tenant: string;
  /** Names of the workflows that are saved together. */
  together?: ReadonlySet<string>;
}

/** Checks definitions before they are saved. */
@Injectable()
export class WorkflowCheck {
  /** @param references absent outside of the service; then agents that are named as tools are not looked up */
  constructor(
    private readonly nodeTypes: NodeTypes,
    @Optional() private readonly references?: AgentReferences,
    @Optional() private readonly servers?: ToolServers,
  ) {}

  /**
   * Returns all problems of a request body, errors first.
   * @param store of the tenant that saves
   */
  async findProblems(body: unknown, store: SavedWorkflows, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    return findBodyProblems(body, store, this.nodeTypes, (definition) => this.toolProblems(definition, saving));
  }

  /**
   * Returns the definition of a body, pinned to the revisions of the workflows that its nodes run.
   * @param strict true to reject warnings as well
   * @param store of the tenant
   * @param saving absent: tools are not looked up
   * @throws ProblemError 422 for a definition with errors
   */
  async checkSavable(
    body: WorkflowBody,
    strict: boolean,
    store: WorkflowStore,
    saving?: SavingTenant,
  ): Promise<CheckedWorkflow> {
    const definition = definitionOf(body);
    await turnIfLarge(definition);
    const problems = findOwnProblems(definition, body.sent ?? {}, this.nodeTypes);
    const isRefused = (problem: WorkflowProblem): boolean => strict || isError(problem);
    const errors = problems.filter(isRefused);
    if (errors.length > 0) throw invalidDefinition(errors);
    const named = await resolveNamedChildren(definition, store);
    const tools = await this.toolProblems(definition, saving);
    const refused = tools.filter(isRefused);
    if ('definition' in named && refused.length === 0)
      return { definition: named.definition, warnings: [...problems, ...tools] };
    throw invalidDefinition([...('problems' in named ? named.problems : []), ...refused]);
  }

  /** Finds tools that name agents or MCP servers that do not exist. Call it outside of transactions. */
  async toolProblems(definition: WorkflowDefinition, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    const { references, servers } = this;
    return references && saving ? findAgentToolProblems(definition, { references, servers, ...saving }) : [];
  }
}

/** Returns the problem response for a definition with errors. */
export function invalidDefinition(errors: readonly WorkflowProblem[]): ProblemError {
  return new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
}
