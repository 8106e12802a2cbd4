import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type InsertResult, MoreThan, type Repository, type UpdateResult } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { BatchLoader, Database } from '#libs/postgres';
import type { AgentCard } from '#libs/protocol';
import type { RevisionPrecondition } from '#libs/tasks';
import { type AgentPolicy, readPolicy } from './agent-policy.js';
import { RegisteredAgentRow } from './registered-agent-tables.js';

/** Pattern of the names of registered agents. It is the pattern of workflow names. */
export const AGENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Definition of a registered agent, as its tenant writes it. */
export interface RegistrationFields {
  url: string;
  /** Name of the stored credential that authenticates calls to the agent. */
  auth?: string;
  policy: AgentPolicy;
}

/** Remote agent that this service serves under a name. */
export interface RegisteredAgent extends RegistrationFields {
  tenant: string;
  name: string;
  /** Card as it was when the agent was saved. */
  card: AgentCard;
  createdAt: Date;
  updatedAt: Date;
}

/** Maximum number of registered agents of a tenant; concurrent requests may exceed it slightly. */
export const MOST_REGISTERED_AGENTS = 500;

/**
 * Returns the precondition that an agent was not saved again since `savedAt`, a time that `findTimeOfSave` returned.
 */
export function savedAtPremise(tenant: string, name: string, savedAt: string): RevisionPrecondition {
  return { relation: 'workflow_newest', tenant, name, version: `agent/${savedAt}` };
}

/** Stores the registered agents of tenants. */
@Injectable()
export class RegisteredAgents {
  private readonly saved = new BatchLoader((keys: readonly string[]) => this.readTimesOfSave(keys));

  constructor(
    @InjectRepository(RegisteredAgentRow) private readonly rows: Repository<RegisteredAgentRow>,
    private readonly database: Database,
  ) {}

  /**
   * Returns the time when an agent was last saved, as digits: microseconds since 1970; `undefined` if there is no
   * agent.
   */
  findTimeOfSave(tenant: string, name: string): Promise<string | undefined> {
    return this.saved.get(JSON.stringify([tenant, name]));
  }

  private async readTimesOfSave(keys: readonly string[]): Promise<Map<string, string>> {
    const asked = keys.map((key) => JSON.parse(key) as [string, string]);
    const { rows } = await this.database.pool.query<{ tenant: string; name: string; saved_at: string }>({
      name: 'registered-agents-saved',
      text: SAVED,
      values: [asked.map(([tenant]) => tenant), asked.map(([, name]) => name)],
    });
    return new Map(rows.map(({ tenant, name, saved_at }) => [JSON.stringify([tenant, name]), saved_at]));
  }

  /** Returns one page of a tenant's agents, sorted by name. */
  async listAgents(tenant: string, { limit, after }: NamedPage): Promise<RegisteredAgent[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(toAgent);
  }

  async get(tenant: string, name: string): Promise<RegisteredAgent | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? toAgent(row) : undefined;
  }

  /** Returns the names of the tenant's agents whose calls use the stored credential with the name `auth`, sorted. */
  async namesUsingCredential(tenant: string, auth: string): Promise<string[]> {
    const rows = await this.rows.find({ where: { tenant, auth }, order: { name: 'ASC' }, select: { name: true } });
    return rows.map(({ name }) => name);
  }

  /**
   * Stores a new agent of the tenant.
   * @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has MOST_REGISTERED_AGENTS agents
   */
  async createAgent(
    tenant: string,
    name: string,
    definition: RegistrationFields,
    card: AgentCard,
  ): Promise<RegisteredAgent | undefined> {
    const count = await this.rows.countBy({ tenant });
    refuseMoreThan({ count, most: MOST_REGISTERED_AGENTS, what: 'registered agents' });
    const values = { tenant, name, ...columnsOf(definition, card) };
    return toSavedAgent(
      await this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*').execute(),
    );
  }

  /** Replaces an agent of the tenant. @returns `undefined` if there is no agent of this name */
  async replaceAgent(
    tenant: string,
    name: string,
    definition: RegistrationFields,
    card: AgentCard,
  ): Promise<RegisteredAgent | undefined> {
    const values = { ...columnsOf(definition, card), updated_at: () => 'now()' };
    return toSavedAgent(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Deletes an agent of the tenant. @returns true if it existed */
  async delete(tenant: string, name: string): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }
}

const SAVED = `
  SELECT agent.tenant, agent.name, (extract(epoch FROM agent.updated_at) * 1000000)::bigint::text AS saved_at
  FROM unnest($1::text[], $2::text[]) AS asked (tenant, name) JOIN registered_agent agent USING (tenant, name)`;

type DefinitionColumns = Pick<RegisteredAgentRow, 'url' | 'auth' | 'policy' | 'card'>;

function columnsOf({ url, auth, policy }: RegistrationFields, card: AgentCard): DefinitionColumns {
  return { url, auth: auth ?? null, policy, card };
}

function toAgent(row: RegisteredAgentRow): RegisteredAgent {
  const { tenant, name, url, auth, policy, card } = row;
  return {
    ...{ tenant, name, url },
    ...(auth !== null && { auth }),
    policy: readPolicy(policy),
    card: card as AgentCard,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/**
 * Returns the agent in the row that an INSERT or UPDATE with `RETURNING` returned; `undefined` if it returned no row.
 * TypeORM does not map this row, so its members have the names of the columns.
 */
function toSavedAgent({ raw }: InsertResult | UpdateResult): RegisteredAgent | undefined {
  const [row] = raw as RegisteredAgentRow[];
  return row && toAgent(row);
}
