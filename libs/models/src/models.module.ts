import { Module } from '@nestjs/common';
import { ConfiguredModels } from './configured-models.js';
import { Models } from './models.js';

/** The models that agents answer with. Needs the ground's modules. */
@Module({ providers: [{ provide: Models, useClass: ConfiguredModels }], exports: [Models] })
export class ModelsModule {}
