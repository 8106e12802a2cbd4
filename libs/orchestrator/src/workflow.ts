import type { JsonObject } from '#libs/protocol';

export interface WorkflowNode {
  id: string;
  type: string;
  config: JsonObject;
  /** Where an editor draws it; nothing else reads it. */
  position?: { x: number; y: number };
}

export interface WorkflowEdge {
  from: string;
  to: string;
}

/** A DAG of agents, as callers define it. */
export interface WorkflowDefinition {
  /** Where editors find the JSON Schema of definitions; kept, and nothing else. */
  $schema?: string;
  name: string;
  description?: string;
  nodes: WorkflowNode[];
  edges: WorkflowEdge[];
  /** `cancel` (the default): the first failure ends the run. `continue`: only what descends from it is skipped. */
  onFailure?: 'cancel' | 'continue';
}

/** One saved state of a workflow. A run keeps the revision that it was started with. */
export interface WorkflowRevision {
  definition: WorkflowDefinition;
  /** Opaque; grows with every save. */
  revision: string;
  createdAt: Date;
  updatedAt: Date;
}
