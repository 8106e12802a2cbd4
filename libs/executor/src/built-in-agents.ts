import { Injectable, Module } from '@nestjs/common';
import type { ServedAgent } from './agent-catalog.js';

/** Agents that are part of the service, each at its own path. The catalog finds them; no directory lists them. */
@Injectable()
export class BuiltInAgents {
  private readonly agents = new Map<string, ServedAgent>();

  /** Adds an agent. Call it before the service listens. */
  add(agent: ServedAgent): void {
    this.agents.set(agent.path, agent);
  }

  findAgent(path: string): ServedAgent | undefined {
    return this.agents.get(path);
  }
}

/** Module that shares one BuiltInAgents between the built-in agents and the catalog. */
@Module({ providers: [BuiltInAgents], exports: [BuiltInAgents] })
export class BuiltInAgentsModule {}
