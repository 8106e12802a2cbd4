import type { DEFINITION } from './definition-schema.js';
import type { Stored } from './shape.js';

export type { Join } from './node-schema.js';

/** A workflow as callers define it: nodes, which are agents or steps of the engine, and the edges between them. */
export interface WorkflowDefinition extends Stored<typeof DEFINITION.members> {}

export type WorkflowNode = WorkflowDefinition['nodes'][number];

export type WorkflowEdge = WorkflowDefinition['edges'][number];

/** Settings for retries of a node's failed attempts. An absent member has the default that `NODE` documents. */
export type RetryConfig = NonNullable<WorkflowNode['retry']>;

/** Settings of a node that runs once for each entry of a list. */
export type EachConfig = NonNullable<WorkflowNode['each']>;

/**
 * Rules for a node's result. `schema` is a JSON Schema that the result must fit. With `parse`, JSON in the text of the
 * result is added to it as data.
 */
export type OutputConfig = NonNullable<WorkflowNode['output']>;

/** Limit of the runs of a workflow that are under way at the same time. */
export type ConcurrencyConfig = NonNullable<WorkflowDefinition['concurrency']>;

/** Limit on what a run may spend on models. */
export type BudgetConfig = NonNullable<WorkflowDefinition['budget']>;

/** Settings of a back-edge, which repeats the nodes between its ends. */
export type LoopConfig = NonNullable<WorkflowEdge['loop']>;

/**
 * Outcome that an edge or an `onExit` node requires. An edge requires an outcome of its source node, an `onExit` node
 * an outcome of the run.
 */
export type OutcomeFilter = NonNullable<WorkflowEdge['on']>;

/** A saved state of a workflow. A run keeps the revision that it was started with. */
export interface WorkflowRevision {
  definition: WorkflowDefinition;
  /** Revision number as a string; grows with every save. Treat it as opaque. */
  revision: string;
  createdAt: Date;
  updatedAt: Date;
}
