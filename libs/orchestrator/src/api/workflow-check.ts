import { Injectable } from '@nestjs/common';
import { NodeTypes } from '#libs/executor';
import { ProblemError } from '#libs/http';
import type { JsonObject } from '#libs/protocol';
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

/** Finds what is wrong with definitions, before they are saved. */
@Injectable()
export class WorkflowCheck {
  constructor(private readonly nodeTypes: NodeTypes) {}

  /**
   * Everything that is wrong with what was sent; errors first.
   * @param store of the tenant that may save it
   */
  async problems(body: unknown, store: SavedWorkflows): Promise<WorkflowProblem[]> {
    const definition = readDefinition(body);
    if (Array.isArray(definition)) return definition;
    const problems = this.found(definition, body as JsonObject);
    if (problems.some(isError)) return problems;
    const named = await namedChildren(definition, store);
    return 'problems' in named ? [...named.problems, ...problems] : problems;
  }

  /**
   * The definition of a body, with the revisions of the workflows that its nodes run.
   * @param strict whether warnings count as errors
   * @param store of the tenant
   * @throws ProblemError 422 for one with errors
   */
  async savable(body: WorkflowBody, strict: boolean, store: WorkflowStore): Promise<CheckedWorkflow> {
    const definition = definitionOf(body);
    const problems = this.found(definition, body.sent ?? {});
    const errors = problems.filter((problem) => strict || isError(problem));
    if (errors.length > 0) throw invalid(errors);
    const named = await namedChildren(definition, store);
    if ('definition' in named) return { definition: named.definition, warnings: problems };
    throw invalid(named.problems);
  }

  private found(definition: WorkflowDefinition, sent: JsonObject): WorkflowProblem[] {
    const sizes = sizeProblems(definition);
    if (sizes.length > 0) return sizes;
    const problems = [...workflowProblems(definition, this.nodeTypes), ...unknownMembers(sent)];
    return problems.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank(problem: WorkflowProblem): number {
  return isError(problem) ? 0 : 1;
}

function isError({ severity }: WorkflowProblem): boolean {
  return severity === 'error';
}

function invalid(errors: WorkflowProblem[]): ProblemError {
  return new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
}
