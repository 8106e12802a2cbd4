import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { getHeapStatistics } from 'node:v8';
import { AgentDirectory } from '#libs/a2a-client';
import { BuiltInAgents, CallChains, NodeTypes, type ServedAgent } from '#libs/agents';
import { RemoteContexts } from '#libs/durable';
import { ServiceAddress } from '#libs/http-server';
import { AppConfig, Metrics } from '#libs/service';
import { RunBudgets, TaskStore } from '#libs/tasks';
import type { WorkflowRevision } from '#libs/workflow-definition';
import {
  NodeMetrics,
  RunChildStore,
  RunFolds,
  type RunServices,
  SYSTEM_CLOCK,
  WorkBudget,
  WorkflowExecutor,
} from '#libs/workflow-engine';
import { CancelOutcomes, RerunOrigins } from '../storage/postgres-run-stores.js';
import { PostgresRunSlots } from '../storage/run-slots.js';
import type { WorkflowInterface } from '../storage/workflow-store.js';

/** Value to cache, and its estimated heap bytes. */
interface Weighed<T> {
  value: T;
  weight: number;
}

/** Share of the heap that the values of one cache may use. */
const SHARE = 1 / 16;

/**
 * Cache with one value for each tenant.
 * - A value is valid for one version of the tenant's workflows (`WorkflowStore.currentVersion`).
 * - All tenants share one size limit; the least recently used values are evicted first.
 * - Concurrent requests for a value that is not cached share one read.
 */
class VersionedCache<T extends object> {
  private readonly kept: LRUCache<string, { version: string; value: T }>;
  private readonly reading = new Map<string, { version: string; value: Promise<T> }>();

  /** @param most maximum size of all values in bytes of the heap */
  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * SHARE)) {
    this.kept = new LRUCache({ maxSize: most });
  }

  async get(tenant: string, version: string, read: () => Promise<Weighed<T>>): Promise<T> {
    const found = this.kept.get(tenant);
    if (found?.version === version) return found.value;
    const underWay = this.reading.get(tenant);
    if (underWay?.version === version) return underWay.value;
    const value = this.readAndStore(tenant, version, read);
    const own = { version, value };
    this.reading.set(tenant, own);
    try {
      return await value;
    } finally {
      if (this.reading.get(tenant) === own) this.reading.delete(tenant);
    }
  }

  private async readAndStore(tenant: string, version: string, read: () => Promise<Weighed<T>>): Promise<T> {
    const { value, weight } = await read();
    this.kept.set(tenant, { version, value }, { size: Math.max(1, Math.ceil(weight)) });
    return value;
  }
}

/** Creates and caches the executors of workflows. */
@Injectable()
export class WorkflowExecutors {
  private readonly services: RunServices;
  private readonly made = new WeakMap<WorkflowRevision, WorkflowExecutor>();

  constructor(
    directory: AgentDirectory,
    tasks: TaskStore,
    children: RunChildStore,
    contexts: RemoteContexts,
    cancels: CancelOutcomes,
    origins: RerunOrigins,
    chains: CallChains,
    address: ServiceAddress,
    config: AppConfig,
    metrics: Metrics,
    work: WorkBudget,
    folds: RunFolds,
    slots: PostgresRunSlots,
    budgets: RunBudgets,
  ) {
    const { content, nodeDispatch } = config;
    const localDispatch = nodeDispatch === 'local';
    this.services = {
      directory,
      tasks,
      children,
      folds,
      contexts,
      cancels,
      origins,
      slots,
      budgets,
      chains,
      address,
      localDispatch,
      content,
      clock: SYSTEM_CLOCK,
      work,
      metrics: new NodeMetrics(metrics),
    };
  }

  /** Returns the executor of a revision. The same revision object always has the same executor object. */
  getExecutor(workflow: WorkflowRevision): WorkflowExecutor {
    const known = this.made.get(workflow);
    if (known) return known;
    const executor = new WorkflowExecutor(workflow, this.services);
    this.made.set(workflow, executor);
    return executor;
  }
}

/** Dependencies and caches that the catalogs of all tenants share. The catalogs differ only in their workflows. */
@Injectable()
export class CatalogServices {
  /** Cache of the service's own agent by tenant, with the skills of its card. */
  readonly serviceAgents = new VersionedCache<ServedAgent>();
  /** Cache of the inputs and outputs of workflows, by tenant. */
  readonly interfaces = new VersionedCache<ReadonlyMap<string, WorkflowInterface>>();

  constructor(
    readonly nodeTypes: NodeTypes,
    readonly executors: WorkflowExecutors,
    readonly config: AppConfig,
    readonly own: BuiltInAgents,
  ) {}
}
