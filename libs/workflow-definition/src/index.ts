export {
  findBodyProblems,
  findOwnProblems,
  isError,
  problemsTogether,
  resolveNamedChildren,
  turnIfLarge,
} from './definition-check.js';
export {
  assertTenantHasRoom,
  type HeldDefinitions,
  MOST_DEFINITION_BYTES,
  MOST_DESCRIPTION_BYTES,
  MOST_TENANT_BYTES,
  MOST_WORKFLOWS,
} from './definition-limits.js';
export {
  createVocabulary,
  type ExpressionPlace,
  type IsRepeated,
  joinMemberPath,
  listExpressionPlaces,
  NODE_FIELDS,
  RUN_FIELDS,
} from './expression-places.js';
export { checkAlone, checkInDefinition, type ExpressionVariable } from './expression-problems.js';
export { type FailureKind, isFailureKind, isRetried, isTooLong, retryPause, type WorkflowFailure } from './failure.js';
export { type GraphEdge, GraphUnit, type Loop, LoopRegion, Regions, type UnitEdge } from './loop-regions.js';
export { DEEPEST_RUN, innerNodes, namingNodes, type SavedWorkflows } from './named-workflows.js';
export { isOrdered, templateKey, templatesOf, templateValues } from './node-templates.js';
export {
  INPUT_REASONS,
  InputRules,
  inputsOf,
  inputsSchema,
  inputText,
  inputValue,
  isRequired,
  messageText,
  refuseLargeInputs,
  userInputName,
  userInputNode,
} from './run-inputs.js';
export { inlineDefinition, readDefinition } from './sent-definition.js';
export {
  definitionOf,
  ReplacementWorkflowBody,
  SavedWorkflowView,
  WorkflowBody,
  WorkflowProblems,
  WorkflowProblemView,
  WorkflowView,
  workflowView,
} from './workflow-body.js';
export { InvalidWorkflow, mayReadBytes, WorkflowGraph } from './workflow-graph.js';
export { errorProblem, warningProblem, type WorkflowProblem } from './workflow-problem.js';
export { WORKFLOW_NAME } from './workflow-problems.js';
export { workflowSchema } from './workflow-schema.js';
export type {
  EachConfig,
  Join,
  LoopConfig,
  OutputConfig,
  RetryConfig,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNode,
  WorkflowRevision,
} from './workflow.js';
