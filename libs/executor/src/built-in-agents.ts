import { Injectable, Module } from '@nestjs/common';
import type { ServedAgent } from './agent-catalog.js';

/** Agents that are part of the service itself, each at a path of its own. The catalog finds them; no directory lists them. */
@Injectable()
export class BuiltInAgents {
  private readonly agents = new Map<string, ServedAgent>();

  /** To be called before the service listens. */
  add(agent: ServedAgent): void {
    this.agents.set(agent.path, agent);
  }

  at(path: string): ServedAgent | undefined {
    return this.agents.get(path);
  }
}

/** One BuiltInAgents for whoever has such an agent and for the catalog. */
@Module({ providers: [BuiltInAgents], exports: [BuiltInAgents] })
export class BuiltInAgentsModule {}
