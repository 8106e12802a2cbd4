import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FilesModule } from '#libs/files';
import { ModelStore } from './model-store.js';
import { ModelRow } from './model-table.js';
import { ModelsController } from './models.controller.js';
import { ConfiguredModels, Models, StoredModels } from './models.js';

/** Provides the models of the operator's endpoint only. Requires ServiceModule and OutboundModule. */
@Module({ providers: [{ provide: Models, useClass: ConfiguredModels }], exports: [Models] })
export class ConfiguredModelsModule {}

/** Provides all models, including stored ones. Requires the ground's modules. */
@Module({})
export class ModelsModule {
  /** @param signers a module that exports RequestSigners */
  static withSigners(signers: NonNullable<ModuleMetadata['imports']>[number]): DynamicModule {
    return {
      module: ModelsModule,
      imports: [signers, FilesModule, TypeOrmModule.forFeature([ModelRow])],
      providers: [ModelStore, ConfiguredModels, { provide: Models, useClass: StoredModels }],
      exports: [Models, ModelStore],
    };
  }
}

/** Provides the management API of models. */
@Module({})
export class ModelsApiModule {
  /** @param imports ModelsModule, and the module that provides ModelNamers */
  static withNamers(...imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return { module: ModelsApiModule, imports, controllers: [ModelsController] };
  }
}
