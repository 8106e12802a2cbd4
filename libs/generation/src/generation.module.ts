import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { WorkflowCheck } from '#libs/orchestrator';
import { RemoteAgentsModule } from '#libs/remote-agents';
import { GenerateController } from './generate.controller.js';
import { GenerationModels } from './generation-models.js';
import { GenerationSlots } from './generation-slots.js';
import { WorkflowGenerator } from './generation.js';
import { Nameable } from './nameable.js';

/** Workflow generation by models. Requires the ground's modules and McpClientModule. */
@Module({})
export class GenerationModule {
  /** @param imports modules that export WorkflowStore, NodeTypes, ToolRegistry, Models and ModelStore */
  static withImports(...imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: GenerationModule,
      imports: [RemoteAgentsModule, ...imports],
      controllers: [GenerateController],
      providers: [GenerationModels, GenerationSlots, Nameable, WorkflowCheck, WorkflowGenerator],
    };
  }
}
