import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { BatchLoader, Database } from '#libs/postgres';
import type { SourceKind, TriggerRules } from '../delivery/trigger-rules.js';
import type { WebhookSource } from '../signatures/webhook-source.js';
import { TriggerRow } from './trigger-tables.js';

/** Pattern of the names of triggers. It is the pattern of workflow names. */
export const TRIGGER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Maximum number of triggers of a tenant; concurrent requests may exceed it slightly. */
export const MOST_TRIGGERS = 200;

/** Statuses in which a run can end. */
export const END_STATUSES = ['completed', 'failed', 'canceled'] as const;
export type EndStatus = (typeof END_STATUSES)[number];

/** Settings of a trigger that ended runs fire. */
interface EndedRunSource {
  /** Workflow whose runs fire the trigger. */
  workflow: string;
  statuses: EndStatus[];
}

/** Source of the events of a trigger: exactly one member is present. */
export interface TriggerSource {
  webhook?: WebhookSource;
  run?: EndedRunSource;
}

/** Definition of a trigger, as a caller writes it. */
export interface TriggerDefinition {
  workflow: string;
  source: TriggerSource;
  rules: TriggerRules;
}

/** Trigger as stored for a tenant. */
export interface Trigger extends TriggerDefinition {
  tenant: string;
  name: string;
  /** Caller under whose name the runs of a webhook are started. */
  owner: string;
  triggerId: string;
  hookId: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Returns the kind of a source. */
export function kindOf({ webhook }: TriggerSource): SourceKind {
  return webhook ? 'webhook' : 'run';
}

interface TriggerKey {
  tenant: string;
  name: string;
}

const HOOK_ID = /^[\da-f]{32}$/;

/** Stores the triggers of tenants. */
@Injectable()
export class Triggers {
  private readonly hooks = new BatchLoader((ids: readonly string[]) => this.readHooks(ids), 64, 2);

  constructor(
    @InjectRepository(TriggerRow) private readonly rows: Repository<TriggerRow>,
    private readonly database: Database,
  ) {}

  /** Returns one page of a tenant's triggers, sorted by name. */
  async listTriggers(tenant: string, { limit, after }: NamedPage): Promise<Trigger[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(toTrigger);
  }

  async get({ tenant, name }: TriggerKey): Promise<Trigger | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? toTrigger(row) : undefined;
  }

  /** Returns the trigger of a webhook; `undefined` if no webhook has the id. Concurrent calls share a query. */
  async findHook(hookId: string): Promise<Trigger | undefined> {
    return HOOK_ID.test(hookId) ? this.hooks.get(hookId) : undefined;
  }

  /**
   * Stores a new trigger.
   * @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has MOST_TRIGGERS triggers
   */
  async createTrigger(key: TriggerKey, owner: string, definition: TriggerDefinition): Promise<Trigger | undefined> {
    refuseMoreThan({ count: await this.rows.countBy({ tenant: key.tenant }), most: MOST_TRIGGERS, what: 'triggers' });
    const { rows } = await this.database.pool.query<TriggerRow>(CREATE, [
      ...[key.tenant, key.name, owner],
      ...valuesOf(definition),
    ]);
    return rows[0] && toTrigger(rows[0]);
  }

  /**
   * Replaces a trigger. Its caller becomes the owner of the runs to come; the address of the webhook stays.
   * @returns `undefined` if there is no trigger of this name
   */
  async replaceTrigger(key: TriggerKey, owner: string, definition: TriggerDefinition): Promise<Trigger | undefined> {
    const { rows } = await this.database.pool.query<TriggerRow>(REPLACE, [
      ...[key.tenant, key.name, owner],
      ...valuesOf(definition),
    ]);
    return rows[0] && toTrigger(rows[0]);
  }

  /** Deletes a trigger with its deliveries. Its runs stay. @returns true if it existed */
  async delete({ tenant, name }: TriggerKey): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }

  /** Returns a tenant's triggers that wait for the ends of runs of a workflow. */
  async listRunTriggers(tenant: string, workflow: string): Promise<Trigger[]> {
    return (await this.database.pool.query<TriggerRow>(OF_RUNS, [tenant, workflow])).rows.map(toTrigger);
  }

  /** Returns the names of a tenant's triggers whose webhook has the secret of a credential. */
  async namesUsingCredential(tenant: string, credential: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ name: string }>(USING, [tenant, credential]);
    return rows.map(({ name }) => name);
  }

  private async readHooks(ids: readonly string[]): Promise<Map<string, Trigger>> {
    const { rows } = await this.database.pool.query<TriggerRow>({
      name: 'trigger-hooks',
      text: HOOKS,
      values: [ids],
    });
    return new Map(rows.map((row) => [row.hook_id, toTrigger(row)]));
  }
}

function valuesOf({ workflow, source, rules }: TriggerDefinition): string[] {
  return [workflow, JSON.stringify(source), JSON.stringify(rules)];
}

function toTrigger(row: TriggerRow): Trigger {
  const { tenant, name, owner, workflow, trigger_id: triggerId, hook_id: hookId } = row;
  return {
    ...{ tenant, name, owner, workflow, triggerId, hookId },
    source: row.source as TriggerSource,
    rules: row.rules as TriggerRules,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const CREATE = `
  INSERT INTO workflow_trigger (tenant, name, owner, workflow, source, rules)
  VALUES ($1, $2, $3, $4, $5::json, $6::json) ON CONFLICT DO NOTHING RETURNING *`;

const REPLACE = `
  UPDATE workflow_trigger SET owner = $3, workflow = $4, source = $5::json, rules = $6::json,
    updated_at = clock_timestamp()
  WHERE tenant = $1 AND name = $2 RETURNING *`;

const HOOKS = `
  SELECT * FROM workflow_trigger WHERE hook_id = ANY($1::text[]) AND source->'webhook' IS NOT NULL`;

const OF_RUNS = `
  SELECT * FROM workflow_trigger
  WHERE tenant = $1 AND source->'run' IS NOT NULL AND source->'run'->>'workflow' = $2 ORDER BY name`;

/** SQL query of the names of the triggers that name a credential: tenant and credential are its parameters. */
export const USING = `
  SELECT name FROM workflow_trigger
  WHERE tenant = $1 AND (source->'webhook'->'secrets')::jsonb ? $2::text ORDER BY name`;
