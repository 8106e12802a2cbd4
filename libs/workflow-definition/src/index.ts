export {
  findBodyProblems,
  findOwnProblems,
  isError,
  problemsTogether,
  resolveNamedChildren,
  turnIfLarge,
} from './definition-check.js';
export { CHANGES, type DefinitionDiff, diffDefinitions, type EdgeChange, type NodeChange } from './definition-diff.js';
export { MOST_DEFINITION_BYTES, MOST_DESCRIPTION_BYTES, MOST_PROMPT_BYTES } from './definition-limits.js';
export {
  CONCURRENCY_KEY,
  createVocabulary,
  type ExpressionPlace,
  type IsRepeated,
  joinMemberPath,
  listExpressionPlaces,
  NODE_FIELDS,
  RUN_FIELDS,
} from './expression-places.js';
export { checkAlone, checkInDefinition, type ExpressionVariable } from './expression-problems.js';
export { DEFINITION } from './definition-schema.js';
export { type FailureKind, isFailureKind, type WorkflowFailure } from './failure.js';
export { ChangeCollector, type FieldChange } from './json-changes.js';
export { lowerBudget, readRequestedBudget } from './requested-budget.js';
export { isRetried, isTooLong, retryPause } from './retry.js';
export { type GraphEdge, GraphUnit, type Loop, LoopRegion, Regions, type UnitEdge } from './loop-regions.js';
export { DEEPEST_RUN, innerNodes, namingNodes, type SavedWorkflows } from './named-workflows.js';
export { isOrdered, templateKey, templatesOf, templateValues } from './node-templates.js';
export {
  contentOf,
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
export { definitionFaults, inlineDefinition, readDefinition, storedDefinition } from './sent-definition.js';
export type { ObjectShape } from './shape.js';
export { InvalidWorkflow, mayReadBytes, WorkflowGraph } from './workflow-graph.js';
export { WORKFLOW_NAME } from './node-schema.js';
export { errorProblem, warningProblem, type WorkflowProblem } from './workflow-problem.js';
export { workflowSchema } from './workflow-schema.js';
export type {
  BudgetConfig,
  ConcurrencyConfig,
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
