export { coalesceText } from './coalesced.js';
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
  ModelToolCall,
  ToolResult,
} from './model.js';
export { ModelError } from './model-error.js';
export { MODEL_MIGRATIONS } from './model-migrations.js';
export { ModelNamers } from './model-namers.js';
export { ModelStore } from './model-store.js';
export { Models, type WantedModel } from './models.js';
export { ConfiguredModelsModule, ModelsApiModule, ModelsModule } from './models.module.js';
export { StructuredAnswer } from './structured-answer.js';
export { wholeAnswer } from './whole-answer.js';
