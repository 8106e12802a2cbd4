import { createHash } from 'node:crypto';

/** Pattern of the names of limits. It is the pattern of workflow names. */
export const LIMIT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
/** Pattern of targets: one or all agents or workflows, or everything that a caller starts. */
export const LIMIT_TARGET = /^(caller|(agents|workflows)\/(\*|[A-Za-z0-9_][A-Za-z0-9_-]{0,63}))$/;
export const LIMIT_KEYS = ['target', 'caller', 'tenant'] as const;
/** Property by which a limit is divided: each value of the property has the limit of its own. */
export type LimitKey = (typeof LIMIT_KEYS)[number];

/** Number of starts in a period. `burst` starts may begin at once after a pause. */
interface LimitRate {
  count: number;
  /** Duration such as `1m`. */
  period: string;
  burst: number;
}

/** Definition of a limit, as a caller writes it. */
export interface LimitDefinition {
  target: string;
  /** Absent: everything that the limit matches shares it. */
  per?: LimitKey;
  /** True if the limit matches the work of all tenants. */
  allTenants?: boolean;
  /** Maximum number of runs, or of turns at agents, that are under way. 0: none begins. */
  concurrency?: number;
  rate?: LimitRate;
}

/** Tenant and name that identify a limit. */
export interface LimitId {
  tenant: string;
  name: string;
}

/** Limit as stored for a tenant. */
export interface StoredLimit extends LimitDefinition, LimitId {
  createdAt: Date;
  updatedAt: Date;
}

/** Limit of a piece of work, with the gate of all work that shares it. */
export interface AppliedLimit extends LimitId {
  /** Digest of the limit and the value of its key. */
  gate: string;
  /** Value of the limit's key, for readers; empty without a key. */
  value: string;
  concurrency?: number;
  /** True if the limit has a rate. */
  isPaced: boolean;
  /** True if only the work of one agent or workflow shares the gate. */
  isOfOne: boolean;
}

/** Work that may have limits: a run of a workflow, or a turn of a registered agent. */
export interface LimitedWork {
  kind: 'agents' | 'workflows';
  /** Name of the agent or workflow. */
  name: string;
  tenant: string;
  owner: string;
}

/** Returns the limit as it applies to a piece of work; `undefined` if it does not match the work. */
export function applyLimit(limit: StoredLimit, work: LimitedWork): AppliedLimit | undefined {
  const { tenant, name, target, concurrency, rate } = limit;
  if (tenant !== work.tenant && limit.allTenants !== true) return undefined;
  if (target !== 'caller' && target !== `${work.kind}/*` && target !== `${work.kind}/${work.name}`) return undefined;
  const value = keyOf(limit, work);
  return {
    tenant,
    name,
    gate: createHash('sha256')
      .update(JSON.stringify(['limit', tenant, name, ...value]))
      .digest('hex'),
    value: value.join(' '),
    ...(concurrency !== undefined && { concurrency }),
    isPaced: rate !== undefined,
    isOfOne: limit.per === 'target' || target === `${work.kind}/${work.name}`,
  };
}

function keyOf({ target, per }: StoredLimit, { kind, name, tenant, owner }: LimitedWork): string[] {
  if (target === 'caller' || per === 'caller') return [tenant, owner];
  if (per === 'tenant') return [tenant];
  return per === 'target' ? [tenant, `${kind}/${name}`] : [];
}
