import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AgentCatalog, UnknownAgent } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { hasUserinfo, NO_USERINFO, shownUrl } from '#libs/protocol';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Finds the agents that callers name: by URL, by their path below `/a2a`, or by the name of a workflow or a node. */
@Injectable()
export class AgentReferences {
  private catalog: AgentCatalog | undefined;

  constructor(
    private readonly modules: ModuleRef,
    private readonly address: ServiceAddress,
  ) {}

  /**
   * An agent's URL without a slash at the end, or the path of one of ours, as callers of the tenant see them. Two
   * references to one agent give the same.
   * @throws UnknownAgent
   */
  async resolve(reference: string, tenant: string): Promise<string> {
    if (/^https?:/i.test(reference)) {
      if (!URL.canParse(reference)) throw new UnknownAgent('the URL is not valid', 'AGENT_NOT_FOUND');
      if (hasUserinfo(reference)) throw new UnknownAgent(`the URL ${NO_USERINFO}`, 'AGENT_NOT_FOUND');
      return reference.replace(/\/+$/, '');
    }
    const path = reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
    if (path === '') throw nobody(reference);
    if (path.includes('/')) return (await this.agents(tenant).resolve(path)).path;
    return this.named(path, tenant);
  }

  /** Where to call the agent at a resolved address. */
  url(address: string): string {
    return /^https?:/i.test(address) ? address : `${this.address.internalUrl}/a2a/${address}`;
  }

  /** A workflow's name comes before a node's. */
  private async named(name: string, tenant: string): Promise<string> {
    if (!NAME.test(name)) throw nobody(name);
    try {
      return (await this.agents(tenant).resolve(`workflows/${name}`)).path;
    } catch (error) {
      if (!(error instanceof UnknownAgent)) throw error;
    }
    try {
      return (await this.agents(tenant).resolve(`nodes/${name}`)).path;
    } catch (error) {
      if (error instanceof UnknownAgent && error.reason === 'NODE_NOT_FOUND') throw nobody(name);
      throw error;
    }
  }

  /** Looked up late: the catalog knows node types, and those know this class. */
  private agents(tenant: string): AgentCatalog {
    this.catalog ??= this.modules.get<AgentCatalog>(AgentCatalog, { strict: false });
    return this.catalog.inTenant(tenant);
  }
}

function nobody(reference: string): UnknownAgent {
  return new UnknownAgent(`there is no agent "${shownUrl(reference).slice(0, 200)}"`, 'AGENT_NOT_FOUND');
}
