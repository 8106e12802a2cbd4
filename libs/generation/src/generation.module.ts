import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { RemoteAgentsModule } from '#libs/remote-agents';
import { WorkflowCheck } from '#libs/workflows';
import { GenerateController } from './generate.controller.js';
import { GenerationSlots } from './generation-limits.js';
import { GenerationModels } from './generation-models.js';
import { Nameable } from './generation-prompt.js';
import { WorkflowGenerator } from './workflow-generator.js';

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
