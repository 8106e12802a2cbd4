import { Injectable } from '@nestjs/common';
import { NodeTypes } from '#libs/executor';
import { ProblemError } from '#libs/http';
import type { JsonObject } from '#libs/protocol';
import { readDefinition } from '../sent-definition.js';
import { unknownMembers } from '../unknown-members.js';
import type { WorkflowDefinition } from '../workflow.js';
import type { WorkflowProblem } from '../workflow-problem.js';
import { workflowProblems } from '../workflow-problems.js';
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

  /** Everything that is wrong with what was sent; errors first. */
  problems(body: unknown): WorkflowProblem[] {
    const definition = readDefinition(body);
    return Array.isArray(definition) ? definition : this.found(definition, body as JsonObject);
  }

  /**
   * @param strict whether warnings count as errors
   * @throws ProblemError 422 for one with errors
   */
  savable(body: WorkflowBody, strict: boolean): CheckedWorkflow {
    const definition = definitionOf(body);
    const problems = this.found(definition, body.sent ?? {});
    const errors = problems.filter(({ severity }) => strict || severity === 'error');
    if (errors.length === 0) return { definition, warnings: problems };
    throw new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
  }

  private found(definition: WorkflowDefinition, sent: JsonObject): WorkflowProblem[] {
    const problems = [...workflowProblems(definition, this.nodeTypes), ...unknownMembers(sent)];
    return problems.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ severity }: WorkflowProblem): number {
  return severity === 'error' ? 0 : 1;
}
