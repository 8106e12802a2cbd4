import type { DEFINITION } from './definition-schema.js';
import type { Stored } from './shape.js';

export type { Join } from './node-schema.js';

/** A workflow as callers define it: nodes, which are agents, and the edges between them. */
export interface WorkflowDefinition extends Stored<typeof DEFINITION.members> {}

export type WorkflowNode = WorkflowDefinition['nodes'][number];

export type WorkflowEdge = WorkflowDefinition['edges'][number];

/** Retry of failed attempts. Absent members have defaults. */
export type RetryConfig = NonNullable<WorkflowNode['retry']>;

/** Runs a node once for each entry of a list. */
export type EachConfig = NonNullable<WorkflowNode['each']>;

/** Required shape of a node's result. */
export type OutputConfig = NonNullable<WorkflowNode['output']>;

/** A back-edge, which repeats the nodes between its ends. */
export type LoopConfig = NonNullable<WorkflowEdge['loop']>;

/** Outcome to which an edge applies (that of its source), or an `onExit` node (that of the run). */
export type OutcomeFilter = NonNullable<WorkflowEdge['on']>;

/** A saved state of a workflow. A run keeps the revision that it was started with. */
export interface WorkflowRevision {
  definition: WorkflowDefinition;
  /** Opaque; grows with every save. */
  revision: string;
  createdAt: Date;
  updatedAt: Date;
}
