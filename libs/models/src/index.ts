export { ConfiguredModels } from './configured-models.js';
export { EchoModel } from './echo-model.js';
export type { Model, ModelCall, ModelMessage } from './model.js';
export { ModelError } from './model-error.js';
export { Models } from './models.js';
export { ModelsModule } from './models.module.js';
export { type WholeAnswer, wholeAnswer } from './whole-answer.js';
