import { Module } from '@nestjs/common';
import { ModelsModule } from '#libs/models';
import { NodesModule } from '#libs/nodes';
import { RemoteAgentsModule } from '#libs/remote-agents';
import { RunAgentsModule, WorkflowCheck } from '#libs/workflows';
import { GenerateController } from './generate.controller.js';
import { GenerationSlots } from './generation-limits.js';
import { GenerationModels } from './generation-models.js';
import { Nameable } from './generation-prompt.js';
import { WorkflowGenerator } from './workflow-generator.js';

/** Provides the generation of workflows by models. Needs the modules of the ground layer and McpClientModule. */
@Module({
  imports: [RemoteAgentsModule, RunAgentsModule, NodesModule, ModelsModule],
  controllers: [GenerateController],
  providers: [GenerationModels, GenerationSlots, Nameable, WorkflowCheck, WorkflowGenerator],
})
export class GenerationModule {}
