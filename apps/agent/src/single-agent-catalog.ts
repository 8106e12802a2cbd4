import { AgentCatalog, type ServedAgent, UnknownAgent } from '#libs/executor';

/** Catalog of a process that serves one agent, at the A2A root itself. */
export class SingleAgentCatalog extends AgentCatalog {
  constructor(private readonly agent: ServedAgent) {
    super();
  }

  override resolveAgent(path: string): Promise<ServedAgent> {
    if (path === '') return Promise.resolve(this.agent);
    return Promise.reject(new UnknownAgent('agent not found', 'AGENT_NOT_FOUND', { path }));
  }

  /** Returns the agent: it decides itself what a skill means. */
  override routeMessage(agent: ServedAgent): Promise<ServedAgent> {
    return Promise.resolve(agent);
  }

  override listAgents(limit: number, pageToken?: string): Promise<{ agents: ServedAgent[]; nextPageToken: string }> {
    const agents = pageToken === undefined || pageToken === '' ? [this.agent] : [];
    return Promise.resolve({ agents: agents.slice(0, limit), nextPageToken: '' });
  }
}
