import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  AgentCatalog,
  type AgentDetails,
  AgentExecutor,
  type BeginModes,
  type ListedAgent,
  REGISTERED_AGENTS,
  type ServedAgent,
  UnknownAgent,
} from '#libs/agents';
import { type AgentSkill, invalidParams } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowRevision } from '#libs/workflow-definition';
import { WorkflowStore } from '../storage/workflow-store.js';
import { detailsOf, withInput, WorkflowAgents } from './workflow-agents.js';
import { CatalogServices } from './workflow-executors.js';
import { AgentPage, WORKFLOW_MODES, workflowSkill } from './workflow-summary.js';

export const SERVICE_VERSION = '0.1.0';
/** Number of workflows per query for a page of the directory. */
const PAGE = 50;
/** Number of registered agents per query for their names. */
const NAMES_PAGE = 500;
const NODE_PATH = /^workflows\/([^/]*)\/nodes\/([^/]+)$/;
/** Maximum number of workflows that an error names if several have the node in `nodes/<id>`. */
const CANDIDATES = 10;
/** Estimated heap bytes of an agent's skill without its texts. */
const HEAP_PER_SKILL = 512;
/** Factor that estimates the heap bytes of a JSON value from the bytes of its text. */
const HEAP_PER_BYTE = 4;
/**
 * Maximum number of cached tenants. It is a limit by size, because LRUCache allocates room for `max` entries up front,
 * and each tenant has a catalog.
 */
const MOST_TENANTS = { maxSize: 1_000, sizeCalculation: () => 1 };
const SKILL_FIELD = 'message.metadata.skillId';
const UNNAMED =
  'is required to name a workflow where the request has no tenant that does: it reached the service itself';

/**
 * Finds the agents of this service: the service itself, every workflow and every node. Each request looks them up in
 * the WorkflowStore, so that a save is visible on every replica at once. Only the agent objects that were created from
 * a revision are cached.
 */
@Injectable()
export class WorkflowCatalog extends AgentCatalog {
  private readonly published = new WeakMap<WorkflowRevision, WorkflowAgents>();
  private readonly unasked = new WeakMap<ServedAgent, ServedAgent>();
  private readonly tenants = new LRUCache<string, WorkflowCatalog>({
    ...MOST_TENANTS,
    memoMethod: (tenant) => this.createForTenant(tenant),
  });
  private tenant = '';

  constructor(
    private readonly store: WorkflowStore,
    private readonly services: CatalogServices,
  ) {
    super();
  }

  override inTenant(tenant: string): AgentCatalog {
    return tenant === this.tenant ? this : this.tenants.memo(tenant);
  }

  async resolveAgent(path: string, revision?: string): Promise<ServedAgent> {
    if (path === '') return this.loadService();
    const own = this.services.own.findAgent(path);
    if (own) return own;
    const [root, first, below, second, ...rest] = path.split('/');
    if (root !== undefined && first && below === undefined) {
      const found = await this.findInSource(root, first);
      if (found) return found;
    }
    if (root === 'nodes' && first && below === undefined) return this.nodeAnywhere(first);
    if (root !== 'workflows' || !first || rest.length > 0) throw unknownAddress(path);
    if (below === undefined) return this.findWorkflow(first, revision);
    if (below !== 'nodes' || !second) throw unknownAddress(path);
    return this.findNode(first, second, revision);
  }

  /**
   * Returns the cached agent of a node, or of an AgentSource (for example a registered agent); `undefined` if none is
   * cached. Never returns a workflow, because a run stores the revision with which it begins, and that must be the
   * newest one.
   */
  override findCachedAgent(path: string): ServedAgent | undefined {
    const [root = '', name, ...below] = path.split('/');
    const source = this.services.own.findSource(root);
    if (source) return name && below.length === 0 ? source.findCachedAgent?.(this.tenant, name) : undefined;
    const [, workflow, id] = NODE_PATH.exec(path) ?? [];
    if (workflow === undefined || id === undefined) return undefined;
    const found = this.store.recentRevision?.(workflow);
    const agent = found && this.publishRevision(found.revision).findExecutableNode(id);
    if (!agent || agent.executor.currentInput) return undefined;
    let unasked = this.unasked.get(agent);
    if (!unasked) this.unasked.set(agent, (unasked = { ...agent, premise: found.premise }));
    return unasked;
  }

  async routeMessage(agent: ServedAgent, skill: string | undefined, field = SKILL_FIELD): Promise<ServedAgent> {
    if (agent.path !== '') return agent;
    if (skill !== undefined) {
      const found = await this.store.get(skill);
      if (!found) throw invalidParams({ field, description: `names no skill of this agent; ${describeSkills(agent)}` });
      return this.publishRevision(found).agent;
    }
    const [only, another] = await this.store.listRevisions(2);
    if (!only || another) throw invalidParams({ field, description: `${UNNAMED}; ${describeSkills(agent)}` });
    return this.publishRevision(only).agent;
  }

  /**
   * Lists at most `limit` agents of the directory: the service, then the workflows by name, each followed by its nodes
   * by id.
   */
  async listAgents(limit: number, pageToken?: string): Promise<{ agents: ListedAgent[]; nextPageToken: string }> {
    const page = new AgentPage(limit, pageToken, this.services.nodeTypes.names);
    page.beginWithService({ path: '', ...this.ownName });
    const begun = page.begunWorkflow;
    let after = begun === undefined ? undefined : { name: begun, inclusive: true };
    while (!page.full && page.begunAgent === '') {
      const workflows = await this.store.listWithNodes(PAGE, after);
      for (const workflow of workflows) page.addWorkflow(workflow);
      const last = workflows.at(-1);
      if (last === undefined) break;
      after = { name: last.name, inclusive: false };
    }
    const source = this.services.own.findSource(REGISTERED_AGENTS);
    if (source && !page.full) page.addAgents(await source.listAgents(this.tenant, limit + 1, page.begunAgent));
    return page.buildPage();
  }

  override async listWorkflowNames(): Promise<readonly string[]> {
    return (await this.loadService()).skills.map(({ id }) => id);
  }

  override async listRegisteredNames(): Promise<readonly string[]> {
    const source = this.services.own.findSource(REGISTERED_AGENTS);
    const names: string[] = [];
    for (let after: string | undefined = ''; source && after !== undefined;) {
      const page = await source.listAgents(this.tenant, NAMES_PAGE, after);
      names.push(...page.map(({ path }) => path.slice(REGISTERED_AGENTS.length + 1)));
      after = page.length < NAMES_PAGE ? undefined : names.at(-1);
    }
    return names;
  }

  override async listNodeIds(workflow: string): Promise<readonly string[]> {
    const [found] = await this.store.listWithNodes(1, { name: workflow, inclusive: true });
    if (found?.name !== workflow) throw unknownWorkflow(workflow);
    const { names } = this.services.nodeTypes;
    return found.nodes.filter(({ type }) => names.includes(type)).map(({ id }) => id);
  }

  /**
   * Returns the agent `{root}/{name}` of the AgentSource for the root, such as `agents/{name}`; `undefined` if no
   * source has this root.
   * @throws UnknownAgent if the source has no agent of this name
   */
  private async findInSource(root: string, name: string): Promise<ServedAgent | undefined> {
    const source = this.services.own.findSource(root);
    if (!source) return undefined;
    const found = await source.findAgent(this.tenant, name);
    if (!found) throw new UnknownAgent(`agent "${name}" not found`, 'AGENT_NOT_FOUND', { agent: name });
    return found;
  }

  private createForTenant(tenant: string): WorkflowCatalog {
    const catalog = new WorkflowCatalog(this.store.inTenant(tenant), this.services);
    catalog.tenant = tenant;
    return catalog;
  }

  /**
   * Returns the agent of the whole service. The version is read before the workflows, so that a cached agent may be
   * newer than its version, but never older. The `changedAt` of the agent is the time at which this process created it,
   * after it had noticed a changed workflow.
   */
  private async loadService(): Promise<ServedAgent> {
    const version = await this.store.currentVersion();
    return this.services.serviceAgents.get(this.tenant, version, async () => {
      const skills = (await this.store.listPublished()).map(workflowSkill);
      const weight = skills.reduce((sum, { description }) => sum + description.length + HEAP_PER_SKILL, HEAP_PER_SKILL);
      return { value: this.serviceOf(skills, version), weight };
    });
  }

  private serviceOf(skills: AgentSkill[], version: string): ServedAgent {
    return {
      path: '',
      ...this.ownName,
      version: SERVICE_VERSION,
      skills,
      ...WORKFLOW_MODES,
      executor: UNROUTED,
      changedAt: new Date(),
      details: () => this.loadDetails(skills, version),
    };
  }

  private get ownName(): Pick<ListedAgent, 'name' | 'description'> {
    const { serviceName, serviceDescription } = this.services.config;
    return { name: serviceName, description: serviceDescription };
  }

  private async loadDetails(skills: readonly AgentSkill[], version: string): Promise<AgentDetails> {
    const interfaces = await this.services.interfaces.get(this.tenant, version, async () => {
      const value = await this.store.listInterfaces();
      let weight = 0;
      for (const it of value.values()) weight += JSON.stringify(it).length * HEAP_PER_BYTE + HEAP_PER_SKILL;
      return { value, weight };
    });
    return detailsOf(skills, interfaces);
  }

  private async findWorkflow(name: string, revision?: string): Promise<ServedAgent> {
    const found = await this.store.get(name, revision);
    if (!found) throw unknownWorkflow(name);
    return this.publishRevision(found).agent;
  }

  private async findNode(workflow: string, id: string, revision?: string): Promise<ServedAgent> {
    const found = await this.store.get(workflow, revision);
    const agent = found && this.publishRevision(found).findNode(id);
    if (!agent) throw new UnknownAgent(`node "${id}" not registered`, 'NODE_NOT_FOUND', { workflow, node: id });
    return this.refreshAgent(agent);
  }

  private async nodeAnywhere(id: string): Promise<ServedAgent> {
    const found = (await this.store.withNode(id, CANDIDATES)).map((it) => this.publishRevision(it));
    const [only] = found;
    const agent = found.length === 1 ? only?.findNode(id) : undefined;
    if (agent) return this.refreshAgent(agent);
    if (found.length < 2) throw new UnknownAgent(`node "${id}" not registered`, 'NODE_NOT_FOUND', { node: id });
    const candidates = found.map((it) => `${it.path}/nodes/${id}`).join(', ');
    throw new UnknownAgent(`node "${id}" is ambiguous: several workflows have one`, 'NODE_AMBIGUOUS', {
      node: id,
      candidates,
    });
  }

  private async refreshAgent(agent: ServedAgent): Promise<ServedAgent> {
    const input = await agent.executor.currentInput?.(this.tenant);
    return input ? withInput(agent, input) : agent;
  }

  private findNodeModes(agent: ServedAgent): BeginModes {
    const { executor, inputModes } = agent;
    if (executor.findInputModes) return executor.findInputModes(this.tenant);
    return executor.currentInput ? this.refreshAgent(agent).then((it) => it.inputModes) : inputModes;
  }

  private publishRevision(revision: WorkflowRevision): WorkflowAgents {
    const known = this.published.get(revision);
    if (known) return known;
    const { nodeTypes, executors } = this.services;
    const made = new WorkflowAgents(revision, {
      nodeTypes,
      makeExecutor: (it) => executors.getExecutor(it),
      refreshAgent: (it) => this.refreshAgent(it),
      findNodeModes: (it) => this.findNodeModes(it),
    });
    this.published.set(revision, made);
    return made;
  }
}

/**
 * Executor of the service's own agent. It never executes a Task, because `routeMessage` assigns every Message to a
 * workflow first.
 */
class UnroutedExecutor extends AgentExecutor {
  execute(): AsyncIterable<TaskEvent> {
    throw new Error('A Message to the service was not routed to a workflow');
  }
}

const UNROUTED = new UnroutedExecutor();

function unknownWorkflow(name: string): UnknownAgent {
  return new UnknownAgent(`workflow "${name}" not found`, 'AGENT_NOT_FOUND', { workflow: name });
}

function unknownAddress(path: string): UnknownAgent {
  return new UnknownAgent('there is no agent at this address', 'AGENT_NOT_FOUND', { path });
}

function describeSkills(agent: ServedAgent): string {
  if (agent.skills.length === 0) return 'no workflow is published';
  const shown = agent.skills.slice(0, 20).map((skill) => skill.id);
  return `its skills are ${shown.join(', ')}${agent.skills.length > shown.length ? ', …' : ''}`;
}
