export { GenerationModule } from './generation.module.js';
