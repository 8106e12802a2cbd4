import { Injectable, Optional } from '@nestjs/common';
import { agentToolEntries, NodeTypes } from '#libs/agents';
import { AgentReferences } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import {
  errorProblem,
  findBodyProblems,
  findOwnProblems,
  isError,
  resolveNamedChildren,
  type SavedWorkflows,
  turnIfLarge,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '#libs/workflow-definition';
import type { WorkflowStore } from '../storage/workflow-store.js';
import {
  findUnknownObjects,
  findUnpricedModels,
  listNamedObjects,
  type ObjectPlace,
  type ObjectLookups,
} from './named-objects.js';
import { definitionOf, type WorkflowBody } from './workflow-body.js';

/** Lookup of the MCP servers whose tools `agent` nodes may name. */
export abstract class ToolServers {
  /** True if a tenant may call a server of this name. */
  abstract has(tenant: string, name: string): Promise<boolean>;
}

/** Lookup of the models that nodes name. */
export abstract class NamedModelLookup {
  /**
   * True if calls may name this model: a stored model of the tenant, `echo`, or any name if the operator configured an
   * endpoint. Also true if no model is stored and `hasOthers` is false, because every name then means the built-in
   * model.
   * @param hasOthers true if models of other names are saved together with the definition
   */
  abstract has(tenant: string, name: string, hasOthers: boolean): Promise<boolean>;
  /**
   * True if the cost of calls of a model is known: the model has a price, or uses no tokens. Also true for a model that
   * does not exist.
   * @param name name of the model; absent: the default model
   */
  abstract hasPrice(tenant: string, name: string | undefined): Promise<boolean>;
}

/** Lookups and names that are needed to check the tools of `agent` nodes. */
export interface NamedTools {
  references: Pick<AgentReferences, 'problemOf'>;
  /** Lookup of MCP servers; if absent, names of MCP servers are not checked. */
  servers?: ToolServers | undefined;
  /** Lookup of models; if absent, names of models are not checked. */
  models?: NamedModelLookup | undefined;
  tenant: string;
  /**
   * Names of workflows that are saved together with the definition, and paths of other objects (`agents/x`,
   * `mcp-servers/x`, `models/x`). Absent if the definition is saved alone.
   */
  together?: ReadonlySet<string>;
}

/**
 * Finds problems that only the service can detect: with the tools of `agent` nodes, and with registered agents, MCP
 * servers and models that the definition names.
 * - A tool that names an unknown agent of this service is an error. Agents at other URLs, the workflow itself, and
 *   workflows saved together with it are not checked.
 * - Unknown registered agents, MCP servers and models are warnings, because they may be created later.
 * - A model without a price is an error if a budget limits the cost.
 */
export async function findAgentToolProblems(
  definition: WorkflowDefinition,
  named: NamedTools,
): Promise<WorkflowProblem[]> {
  return [
    ...(await findUnknownAgents(definition, named)),
    ...(definition.budget?.usd === undefined ? [] : await findUnpricedNodes(definition, named)),
    ...(await findUnknownObjects(definition, lookupsOf(named))),
  ];
}

/** Finds nodes with models without a price. Models that are saved together with the definition are not checked. */
function findUnpricedNodes(
  definition: WorkflowDefinition,
  { models, tenant, together = new Set() }: NamedTools,
): Promise<WorkflowProblem[]> {
  const isPriced = async (name: string | undefined): Promise<boolean> =>
    models === undefined || together.has(`models/${name}`) || models.hasPrice(tenant, name);
  return findUnpricedModels(definition, isPriced);
}

/** Returns lookups that find an object if it is stored, or saved together with the definition. */
function lookupsOf({ references, servers, models, tenant, together = new Set() }: NamedTools): ObjectLookups {
  const isTogether = (kind: string, name: string): boolean => together.has(`${kind}/${name}`);
  const areModelsTogether = [...together].some((it) => it.startsWith('models/'));
  return {
    hasAgent: async (name) =>
      isTogether('agents', name) || (await references.problemOf(`agents/${name}`, tenant)) === undefined,
    ...(servers && {
      hasServer: async (name) => isTogether('mcp-servers', name) || (await servers.has(tenant, name)),
    }),
    ...(models && {
      hasModel: async (name) => isTogether('models', name) || (await models.has(tenant, name, areModelsTogether)),
    }),
  };
}

async function findUnknownAgents(
  definition: WorkflowDefinition,
  { references, tenant, together }: NamedTools,
): Promise<WorkflowProblem[]> {
  const problems: WorkflowProblem[] = [];
  const isSaved = (workflow: string): boolean => workflow !== definition.name && !together?.has(workflow);
  const agents = listNamedObjects(definition, ['agent'], listLocalAgents);
  for (const { name, path, node } of agents.filter((it) => isSaved(readWorkflowName(it.name)))) {
    const problem = await references.problemOf(name, tenant);
    if (problem !== undefined)
      problems.push(errorProblem('UNKNOWN_AGENT', path, `agent node "${node}": ${problem}`, { node }));
  }
  return problems;
}

function listLocalAgents({ tools }: JsonObject, place: string): ObjectPlace[] {
  const named = agentToolEntries(tools).flatMap(({ index, reference, announce }): ObjectPlace[] => {
    const path = `${place}.tools[${index}]`;
    return [
      { name: reference, path },
      ...(announce === undefined ? [] : [{ name: announce, path: `${path}.talk.announce` }]),
    ];
  });
  return named.filter(({ name }) => !/^https?:/i.test(name));
}

/**
 * Returns the name of the workflow in a reference (`workflows/x/…`). For any other reference, returns the path below
 * `/a2a`.
 */
function readWorkflowName(reference: string): string {
  const path = reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
  const [, name = path] = /^workflows\/([^/]+)/.exec(path) ?? [];
  return name;
}

/** A definition that may be saved, with its warnings. */
export interface CheckedWorkflow {
  definition: WorkflowDefinition;
  warnings: WorkflowProblem[];
}

/** Tenant that saves a definition, and the objects that are saved together with it. */
export interface SavingTenant {
  tenant: string;
  /**
   * Names of the workflows, and paths of other objects, that are saved together. Absent if one workflow is saved alone.
   */
  together?: ReadonlySet<string>;
}

/** Checks definitions before they are saved. */
@Injectable()
export class WorkflowCheck {
  /**
   * @param references if absent (outside of the service), tools are not looked up
   * @param servers if absent, names of MCP servers are not checked
   * @param models if absent, names of models are not checked
   */
  constructor(
    private readonly nodeTypes: NodeTypes,
    @Optional() private readonly references?: AgentReferences,
    @Optional() private readonly servers?: ToolServers,
    @Optional() private readonly models?: NamedModelLookup,
  ) {}

  /**
   * Returns the problems of a request body, errors first. Other workflows, agents and MCP servers are looked up only if
   * the definition itself has no errors.
   * @param store workflows of the tenant
   * @param saving if absent, tools are not looked up
   */
  async findProblems(body: unknown, store: SavedWorkflows, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    return findBodyProblems(body, store, this.nodeTypes, (definition) => this.toolProblems(definition, saving));
  }

  /**
   * Returns the definition to save from a request body. If a node names a workflow without a revision, the newest
   * revision is added to the node.
   * @param strict true to reject warnings as well
   * @param store workflows of the tenant
   * @param saving if absent, tools are not looked up
   * @throws ProblemError 422 for a definition with errors, or with warnings if `strict` is true
   */
  async checkSavable(
    body: WorkflowBody,
    strict: boolean,
    store: WorkflowStore,
    saving?: SavingTenant,
  ): Promise<CheckedWorkflow> {
    const definition = definitionOf(body);
    await turnIfLarge(definition);
    const problems = findOwnProblems(definition, body.sent, this.nodeTypes);
    const isRefused = (problem: WorkflowProblem): boolean => strict || isError(problem);
    const errors = problems.filter(isRefused);
    if (errors.length > 0) throw invalidDefinition(errors);
    const named = await resolveNamedChildren(definition, store);
    const tools = await this.toolProblems(definition, saving);
    const refused = tools.filter(isRefused);
    if ('definition' in named && refused.length === 0)
      return { definition: named.definition, warnings: [...problems, ...tools] };
    throw invalidDefinition([...('problems' in named ? named.problems : []), ...refused]);
  }

  /**
   * Finds names in a definition for which no object exists: agents in the tools of `agent` nodes, MCP servers, models
   * and registered agents. Call it outside of transactions.
   */
  async toolProblems(definition: WorkflowDefinition, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    const { references, servers, models } = this;
    return references && saving ? findAgentToolProblems(definition, { references, servers, models, ...saving }) : [];
  }
}

/** Creates the problem response (422) for a definition with errors. */
export function invalidDefinition(errors: readonly WorkflowProblem[]): ProblemError {
  return new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
}
