export type {
  ArtifactContent,
  ArtifactOutput,
  ContentPart,
  Json,
  JsonMembers,
  ReceivedMessage,
} from './work-context.js';
export {
  type CardChanged,
  type DefinedHandler,
  type Fact,
  type FactHandler,
  type FactName,
  type FactPayloads,
  type KeyRevoked,
  onFact,
  type QuestionAsked,
  type ReplicaLeft,
  type RunFailed,
  type TaskSettled,
} from './facts.js';
export { Failure, StepError } from './failure.js';
export type { Output, Step, Work, WorkContext } from './work-context.js';
export {
  type DefinedNode,
  type DefinedTool,
  defineNode,
  defineTool,
  type NodeContext,
  type NodeDefinition,
  type ObjectSchema,
  type Plugin,
  type ToolCall,
  type ToolDefinition,
} from './plugin-definitions.js';
