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
