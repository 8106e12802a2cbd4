import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { DefinedHandler, FactName } from '#libs/authoring';
import { Facts } from '#libs/service';
import { Plugins } from './plugins.js';

/** Subscribes the handlers of plugin modules to the facts of this replica. */
@Injectable()
export class PluginHandlers implements OnApplicationBootstrap {
  constructor(
    private readonly facts: Facts,
    private readonly plugins: Plugins,
  ) {}

  onApplicationBootstrap(): void {
    for (const { module, defined } of this.plugins.handlers) this.subscribeHandler(defined, module);
  }

  private subscribeHandler<Name extends FactName>({ fact, handle }: DefinedHandler<Name>, module: string): void {
    this.facts.on(fact, handle, module);
  }
}
