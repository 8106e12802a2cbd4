export { ChildRunNode } from './catalog/child-run-node.js';
export { RunAgentsModule, WorkflowAgentsModule, WorkflowsModule } from './workflows.module.js';
export { WorkflowProblemView } from './api/workflow-body.js';
export { ToolServers, WorkflowCheck } from './api/workflow-check.js';
export { SERVICE_VERSION } from './catalog/workflow-catalog.js';
export { WORKFLOW_MIGRATIONS } from './storage/workflow-migrations.js';
export { PostgresRunChildStore } from './storage/postgres-run-stores.js';
export { PostgresWorkflowStore } from './storage/postgres-workflow-store.js';
export { WorkflowStore } from './storage/workflow-store.js';
