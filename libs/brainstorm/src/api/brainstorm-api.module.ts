import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { Processes, ProcessStreams } from '#libs/process';
import { BrainstormSetup } from './brainstorm-setup.js';
import { Brainstorms } from './brainstorms.js';
import { BrainstormsController } from './brainstorms.controller.js';
import { CredentialSetup } from './credential-setup.js';

/** Management API of brainstorms. */
@Module({})
export class BrainstormApiModule {
  /** @param imports ExecutorModule, BrainstormModule, and modules that export AgentDirectory and RequestSigners */
  static withImports(...imports: (DynamicModule | Type)[]): DynamicModule {
    return {
      module: BrainstormApiModule,
      imports,
      controllers: [BrainstormsController],
      providers: [Processes, ProcessStreams, Brainstorms, BrainstormSetup, CredentialSetup],
    };
  }
}
