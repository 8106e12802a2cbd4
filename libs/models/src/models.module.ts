import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigurationModule } from '#libs/configuration';
import { FilesModule } from '#libs/files';
import { ModelKind } from './model-kind.js';
import { ModelStore } from './model-store.js';
import { ModelRow } from './model-table.js';
import { ModelTestController } from './model-test.controller.js';
import { ModelTester, ModelTestSlots } from './model-tester.js';
import { ModelsController } from './models.controller.js';
import { ConfiguredModels, Models, StoredModels } from './models.js';

/** Provides the models of the operator's endpoint (`LLM_*`) only. Needs ServiceModule and OutboundModule. */
@Module({ providers: [{ provide: Models, useClass: ConfiguredModels }], exports: [Models] })
export class ConfiguredModelsModule {}

/**
 * Provides stored models and the models of the operator's endpoint. Needs the modules of the ground layer (see
 * docs/ARCHITECTURE.md) and a global RequestSigners.
 */
@Module({
  imports: [FilesModule, TypeOrmModule.forFeature([ModelRow])],
  providers: [ModelStore, ConfiguredModels, { provide: Models, useClass: StoredModels }],
  exports: [ConfiguredModels, Models, ModelStore],
})
export class ModelsModule {}

/** Provides the API that manages models. Needs a global ModelNamers. */
@Module({
  imports: [ModelsModule, ConfigurationModule],
  controllers: [ModelsController, ModelTestController],
  providers: [ModelKind, ModelTester, ModelTestSlots],
})
export class ModelsApiModule {}
