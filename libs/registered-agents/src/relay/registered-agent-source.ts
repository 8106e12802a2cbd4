import { Injectable, Logger, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AgentDirectory, readAgentCard } from '#libs/a2a-client';
import { type AgentSource, BuiltInAgents, type ListedAgent, REGISTERED_AGENTS, type ServedAgent } from '#libs/agents';
import { LimitGates } from '#libs/limits';
import { type AgentCard, decodeAgentCard, jsonDigest, type JsonObject, redactedUrl } from '#libs/protocol';
import { type RegisteredAgent, RegisteredAgents, savedAtPremise } from '../agents/registered-agents.js';
import { forwardedCard, forwardedExtensions } from './relay-card.js';
import { RelayExecutor } from './relay-executor.js';
import { RelayLimits } from './relay-limits.js';
import { RelayTasks } from './relay-tasks.js';
import { RelayWebhooks } from './relay-webhooks.js';

/** Milliseconds that a card is served before its pin is read again. */
const FRESH_MS = 1_000;
const MOST_KEPT = 1_000;
/** Maximum characters of all kept cards as JSON. */
const MOST_KEPT_LENGTH = 16 * 1024 * 1024;

/** Served agent, with the states of its definition and its card when it was made. */
interface KeptAgent {
  served: ServedAgent;
  /**
   * Served agent as `findCachedAgent` returns it, without reading the definition. Its precondition, that the definition
   * is still the saved one, is checked when a Task is created or read.
   */
  unchecked: ServedAgent;
  /** Time when the definition was saved (`findTimeOfSave`). */
  savedAt: string;
  cardDigest: string;
  /** Characters of the card as JSON. */
  length: number;
  /** `performance.now()` until which the pin is not read again. */
  freshUntil: number;
}

/**
 * Source of the agents at `agents/{name}`. A saved definition is visible at once at every replica, an accepted change
 * of a pinned card within a second.
 */
@Injectable()
export class RegisteredAgentSource implements AgentSource {
  readonly root = REGISTERED_AGENTS;
  private readonly logger = new Logger(RegisteredAgentSource.name);
  private readonly kept = new LRUCache<string, KeptAgent>({
    max: MOST_KEPT,
    maxSize: MOST_KEPT_LENGTH,
    sizeCalculation: ({ length }) => length,
  });

  /** Readings under way, by the definition that they read. */
  private readonly readings = new Map<string, Promise<ServedAgent | undefined>>();

  constructor(
    private readonly agents: RegisteredAgents,
    private readonly tasks: RelayTasks,
    private readonly directory: AgentDirectory,
    private readonly limits: RelayLimits,
    private readonly webhooks: RelayWebhooks,
    builtIn: BuiltInAgents,
    @Optional() private readonly gates?: LimitGates,
  ) {
    builtIn.addSource(this);
  }

  async findAgent(tenant: string, name: string): Promise<ServedAgent | undefined> {
    const savedAt = await this.agents.findTimeOfSave(tenant, name);
    if (savedAt === undefined) return undefined;
    const key = JSON.stringify([tenant, name]);
    const known = this.kept.get(key);
    if (known?.savedAt === savedAt && performance.now() < known.freshUntil) return known.served;
    return this.readAgent(tenant, name, savedAt);
  }

  /** Reads an agent and its card. Callers that need the same definition meanwhile share one reading. */
  private readAgent(tenant: string, name: string, savedAt: string): Promise<ServedAgent | undefined> {
    const key = JSON.stringify([tenant, name, savedAt]);
    let reading = this.readings.get(key);
    if (!reading) {
      reading = this.readAndKeep(tenant, name, savedAt).finally(() => this.readings.delete(key));
      this.readings.set(key, reading);
    }
    return reading;
  }

  private async readAndKeep(tenant: string, name: string, savedAt: string): Promise<ServedAgent | undefined> {
    const agent = await this.agents.get(tenant, name);
    if (!agent) return undefined;
    const key = JSON.stringify([tenant, name]);
    const known = this.kept.get(key);
    const card = await this.readCard(agent);
    const cardDigest = jsonDigest(card as unknown as JsonObject);
    const freshUntil = performance.now() + FRESH_MS;
    if (known?.savedAt === savedAt && known.cardDigest === cardDigest) {
      known.freshUntil = freshUntil;
      return known.served;
    }
    const served = this.toServed(agent, card);
    const unchecked = { ...served, premise: savedAtPremise(tenant, name, savedAt) };
    this.kept.set(key, { served, unchecked, savedAt, cardDigest, freshUntil, length: JSON.stringify(card).length });
    return served;
  }

  findCachedAgent(tenant: string, name: string): ServedAgent | undefined {
    const known = this.kept.get(JSON.stringify([tenant, name]));
    return known && performance.now() < known.freshUntil ? known.unchecked : undefined;
  }

  async listAgents(tenant: string, limit: number, after: string): Promise<ListedAgent[]> {
    const found = await this.agents.listAgents(tenant, { limit, after });
    return found.map(({ name, card }) => ({
      path: `${REGISTERED_AGENTS}/${name}`,
      name: card.name,
      description: card.description,
    }));
  }

  /** Returns the pinned card of an agent; if it cannot be read, the card as saved with the agent. */
  private async readCard({ tenant, url, card }: RegisteredAgent): Promise<AgentCard> {
    try {
      const pinned = await this.directory.pinnedCard(url, { scope: { tenant, owner: '' } });
      const read = pinned && readAgentCard(JSON.stringify(pinned));
      return read ? decodeAgentCard(read) : card;
    } catch (error) {
      this.logger.warn({ err: error, url: redactedUrl(url) }, 'The pinned card of a registered agent cannot be read');
      return card;
    }
  }

  private toServed(agent: RegisteredAgent, card: AgentCard): ServedAgent {
    const { name, description, version } = card;
    const { methods, skills: allowed } = agent.policy;
    const skills = card.skills.filter(({ id }) => !allowed || allowed.includes(id));
    const { directory, tasks, limits, gates, webhooks } = this;
    return {
      path: `${REGISTERED_AGENTS}/${agent.name}`,
      ...{ name, description, version, skills },
      // The agent itself decides which types it takes: many cards name fewer.
      inputModes: [],
      outputModes: [],
      executor: new RelayExecutor({ ...agent, card }, { directory, tasks, limits, webhooks, ...(gates && { gates }) }),
      capabilities: {
        extensions: forwardedExtensions(card),
        ...(methods && {
          streaming: methods.includes('SendStreamingMessage') || methods.includes('SubscribeToTask'),
          pushNotifications: methods.includes('PushNotifications'),
        }),
      },
      ...(methods && { operations: new Set<string>(methods) }),
      card: forwardedCard({ ...card, skills }),
      changedAt: new Date(),
    };
  }
}
