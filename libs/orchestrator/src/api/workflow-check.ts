import { setImmediate as turn } from 'node:timers/promises';
import { Injectable, Optional } from '@nestjs/common';
import { NodeTypes } from '#libs/executor';
import { ProblemError } from '#libs/http';
import { AgentReferences } from '#libs/process';
import type { JsonObject } from '#libs/protocol';
import { agentToolProblems, ToolServers } from '../agent-tool-problems.js';
import { namedChildren } from '../child-workflows.js';
import { sizeProblems } from '../definition-limits.js';
import type { SavedWorkflows } from '../saved-workflows.js';
import { readDefinition } from '../sent-definition.js';
import { unknownMembers } from '../unknown-members.js';
import type { WorkflowDefinition } from '../workflow.js';
import type { WorkflowProblem } from '../workflow-problem.js';
import { workflowProblems } from '../workflow-problems.js';
import type { WorkflowStore } from '../workflow-store.js';
import { definitionOf, type WorkflowBody } from './workflow-body.js';

/** A definition that may be saved, and what its author is told of. */
export interface CheckedWorkflow {
  definition: WorkflowDefinition;
  warnings: WorkflowProblem[];
}

/** For whom definitions are checked. */
export interface SavingTenant {
  tenant: string;
  /** Names of workflows that are saved together. */
  together?: ReadonlySet<string>;
}

/** Nodes and edges together beyond which reading a definition, and checking it, each have a turn of the event loop. */
const FEW_PARTS = 500;

/** Finds what is wrong with definitions, before they are saved. */
@Injectable()
export class WorkflowCheck {
  /** @param references absent: whether agents are there that are named as tools, only the service knows */
  constructor(
    private readonly nodeTypes: NodeTypes,
    @Optional() private readonly references?: AgentReferences,
    @Optional() private readonly servers?: ToolServers,
  ) {}

  /**
   * Everything that is wrong with what was sent; errors first.
   * @param store of the tenant that may save it
   */
  async problems(body: unknown, store: SavedWorkflows, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    const definition = readDefinition(body);
    if (Array.isArray(definition)) return definition;
    await turnIfLarge(definition);
    const problems = this.found(definition, body as JsonObject);
    if (problems.some(isError)) return problems;
    const named = await namedChildren(definition, store);
    const tools = await this.toolProblems(definition, saving);
    return [...('problems' in named ? named.problems : []), ...tools, ...problems].toSorted(errorsFirst);
  }

  /**
   * The definition of a body, with the revisions of the workflows that its nodes run.
   * @param strict whether warnings count as errors
   * @param store of the tenant
   * @param saving absent: what tools name is not looked up
   * @throws ProblemError 422 for one with errors
   */
  async savable(
    body: WorkflowBody,
    strict: boolean,
    store: WorkflowStore,
    saving?: SavingTenant,
  ): Promise<CheckedWorkflow> {
    const definition = definitionOf(body);
    await turnIfLarge(definition);
    const problems = this.found(definition, body.sent ?? {});
    const isRefused = (problem: WorkflowProblem): boolean => strict || isError(problem);
    const errors = problems.filter(isRefused);
    if (errors.length > 0) throw invalid(errors);
    const named = await namedChildren(definition, store);
    const tools = await this.toolProblems(definition, saving);
    const refused = tools.filter(isRefused);
    if ('definition' in named && refused.length === 0)
      return { definition: named.definition, warnings: [...problems, ...tools] };
    throw invalid([...('problems' in named ? named.problems : []), ...refused]);
  }

  /**
   * Finds tools of a definition that name agents or MCP servers which are not there. Queries outside of every transaction.
   */
  async toolProblems(definition: WorkflowDefinition, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    const { references, servers } = this;
    return references && saving ? agentToolProblems(definition, { references, servers, ...saving }) : [];
  }

  private found(definition: WorkflowDefinition, sent: JsonObject): WorkflowProblem[] {
    const sizes = sizeProblems(definition);
    if (sizes.length > 0) return sizes;
    const problems = [...workflowProblems(definition, this.nodeTypes), ...unknownMembers(sent)];
    return problems.toSorted(errorsFirst);
  }
}

/** Lets others have their turn after a large definition was read. */
async function turnIfLarge({ nodes, edges }: WorkflowDefinition): Promise<void> {
  if (nodes.length + edges.length > FEW_PARTS) await turn();
}

function errorsFirst(a: WorkflowProblem, b: WorkflowProblem): number {
  return Number(isError(b)) - Number(isError(a));
}

/** Returns true for a problem that a definition is refused for, with or without `strict`. */
export function isError({ severity }: WorkflowProblem): boolean {
  return severity === 'error';
}

/** Returns the refusal of a definition with errors. */
export function invalid(errors: readonly WorkflowProblem[]): ProblemError {
  return new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
}
