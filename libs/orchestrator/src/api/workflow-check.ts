import { Injectable } from '@nestjs/common';
import { NodeTypes } from '#libs/executor';
import { ProblemError, readBody } from '#libs/http';
import { unknownMembers } from '../unknown-members.js';
import type { WorkflowDefinition } from '../workflow.js';
import { fault, type WorkflowProblem } from '../workflow-problem.js';
import { workflowProblems } from '../workflow-problems.js';
import { definitionOf, WorkflowBody } from './workflow-body.js';

/** A definition that may be saved, and what its author is told of. */
export interface CheckedWorkflow {
  definition: WorkflowDefinition;
  warnings: WorkflowProblem[];
}

/** Finds what is wrong with definitions, before they are saved. */
@Injectable()
export class WorkflowCheck {
  constructor(private readonly nodeTypes: NodeTypes) {}

  /** Everything that is wrong with what was sent; errors first. */
  problems(body: unknown): WorkflowProblem[] {
    try {
      return this.found(readBody(WorkflowBody, body)).problems;
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 400) throw error;
      return error.errors.map(({ path, detail }) => fault('MALFORMED', path, `${path} ${detail}`.trim()));
    }
  }

  /**
   * @param strict whether warnings count as errors
   * @throws ProblemError 422 for one with errors
   */
  savable(body: WorkflowBody, strict: boolean): CheckedWorkflow {
    const { definition, problems } = this.found(body);
    const errors = problems.filter(({ severity }) => strict || severity === 'error');
    if (errors.length === 0) return { definition, warnings: problems };
    throw new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
  }

  private found(body: WorkflowBody): { definition: WorkflowDefinition; problems: WorkflowProblem[] } {
    const definition = definitionOf(body);
    const problems = [...workflowProblems(definition, this.nodeTypes), ...unknownMembers(body.sent ?? {})];
    return { definition, problems: problems.toSorted((a, b) => rank(a) - rank(b)) };
  }
}

function rank({ severity }: WorkflowProblem): number {
  return severity === 'error' ? 0 : 1;
}
