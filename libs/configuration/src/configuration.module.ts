import { Module } from '@nestjs/common';
import { ConfigurationKinds } from './configuration-kinds.js';

/**
 * Module that shares one ConfigurationKinds between the libraries that have a kind and the API that applies objects.
 */
@Module({ providers: [ConfigurationKinds], exports: [ConfigurationKinds] })
export class ConfigurationModule {}
