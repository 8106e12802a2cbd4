export { coalesceText, ECHO_MODEL, Models, StructuredAnswer, type WantedModel, wholeAnswer } from './models.js';
export {
  type AssistantMessage,
  type Model,
  type ModelCall,
  type ModelEnd,
  ModelError,
  type ModelEvent,
  type ModelMessage,
  type ModelTool,
  type ModelToolCall,
  type ModelUsage,
  type ToolResult,
} from './model.js';
export { requestedPrompt } from './provider/prompt.js';
export { MODEL_MIGRATIONS } from './model-table.js';
export { ModelNamers } from './models.controller.js';
export { ModelStore } from './model-store.js';
export { ConfiguredModelsModule, ModelsApiModule, ModelsModule } from './models.module.js';
export { findModelProblems } from './model-kind.js';
