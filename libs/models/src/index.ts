export { ConfiguredModels } from './configured-models.js';
export { ECHO_MODEL } from './echo-model.js';
export type {
  AssistantMessage,
  Model,
  ModelCall,
  ModelEnd,
  ModelEvent,
  ModelMessage,
  ModelTool,
  ModelUsage,
  ToolCall,
  ToolResult,
} from './model.js';
export { ModelError } from './model-error.js';
export { Models } from './models.js';
export { ModelsModule } from './models.module.js';
export { wholeAnswer } from './whole-answer.js';
