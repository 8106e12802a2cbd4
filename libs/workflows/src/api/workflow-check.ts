import { Injectable, Optional } from '@nestjs/common';
import { agentToolEntries, NodeTypes, registeredAgentPath } from '#libs/agents';
import { AgentReferences } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import {
  errorProblem,
  findBodyProblems,
  findOwnProblems,
  innerNodes,
  isError,
  resolveNamedChildren,
  type SavedWorkflows,
  turnIfLarge,
  warningProblem,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '#libs/workflow-definition';
import type { WorkflowStore } from '../storage/workflow-store.js';
import { definitionOf, type WorkflowBody } from './workflow-body.js';

/** Lookup of the MCP servers whose tools `agent` nodes may name. */
export abstract class ToolServers {
  /** True if a tenant may call a server of this name. */
  abstract has(tenant: string, name: string): Promise<boolean>;
}

/** Lookups and names that the check of tools needs. */
export interface NamedTools {
  references: Pick<AgentReferences, 'problemOf'>;
  /** Lookup of MCP servers; if absent, names of MCP servers are not checked. */
  servers?: ToolServers | undefined;
  tenant: string;
  /**
   * Names of workflows that are saved together with the definition, and paths of registered agents (`agents/x`); absent:
   * it is saved alone.
   */
  together?: ReadonlySet<string>;
}

/** A tool or an agent that the config of a node names. */
interface NamedTool {
  name: string;
  /** Path in the definition, for example `nodes[2].config.tools[0]`. */
  path: string;
  /** Id of the top-level node that names the tool, or whose inline workflow contains the naming node. */
  node: string;
}

type ToolPlace = Omit<NamedTool, 'node'>;

/**
 * Finds problems with the tools of `agent` nodes, and with registered agents, that only the service can detect.
 * - A tool that names an unknown agent of this service is an error. Not checked are agents at other URLs, the workflow
 *   itself, and workflows saved together with it.
 * - A tool `workflows/x`, `nodes/x` or `agents/x` is a warning if no MCP server is named `workflows`, `nodes` or
 *   `agents`: the author probably meant an agent.
 * - An `external` node that names an unknown registered agent is a warning: the agent may be registered later.
 */
export async function findAgentToolProblems(
  definition: WorkflowDefinition,
  named: NamedTools,
): Promise<WorkflowProblem[]> {
  return [
    ...(await findUnknownAgents(definition, named)),
    ...(await findMistakenTools(definition, named)),
    ...(await findUnregisteredAgents(definition, named)),
  ];
}

async function findUnregisteredAgents(
  definition: WorkflowDefinition,
  { references, tenant, together }: NamedTools,
): Promise<WorkflowProblem[]> {
  const problems: WorkflowProblem[] = [];
  for (const { name, path, node } of listNamedTools(definition, 'external', listRegisteredAgents)) {
    if (together?.has(name)) continue;
    if ((await references.problemOf(name, tenant)) === undefined) continue;
    const text = `external node "${node}": there is no registered agent "${nameInPath(name)}"`;
    problems.push(warningProblem('UNKNOWN_REGISTERED_AGENT', path, text, { node }));
  }
  return problems;
}

function listRegisteredAgents(config: JsonObject, place: string): ToolPlace[] {
  const name = registeredAgentPath(config);
  return name === undefined ? [] : [{ name, path: `${place}.agent` }];
}

function nameInPath(path: string): string {
  return path.slice(path.indexOf('/') + 1);
}

async function findUnknownAgents(
  definition: WorkflowDefinition,
  { references, tenant, together }: NamedTools,
): Promise<WorkflowProblem[]> {
  const problems: WorkflowProblem[] = [];
  const isSaved = (workflow: string): boolean => workflow !== definition.name && !together?.has(workflow);
  const agents = listNamedTools(definition, 'agent', listLocalAgents);
  for (const { name, path, node } of agents.filter((it) => isSaved(readWorkflowName(it.name)))) {
    const problem = await references.problemOf(name, tenant);
    if (problem !== undefined)
      problems.push(errorProblem('UNKNOWN_AGENT', path, `agent node "${node}": ${problem}`, { node }));
  }
  return problems;
}

/** Maximum number of characters of a tool's name that a warning quotes. */
const LONGEST_QUOTE = 128;

async function findMistakenTools(
  definition: WorkflowDefinition,
  { servers, tenant }: NamedTools,
): Promise<WorkflowProblem[]> {
  const tools = servers ? listNamedTools(definition, 'agent', listAgentLikeTools) : [];
  const missing = new Set<string>();
  for (const server of new Set(tools.map(({ name }) => readServerName(name))))
    if (!(await servers?.has(tenant, server))) missing.add(server);
  return tools
    .filter(({ name }) => missing.has(readServerName(name)))
    .map(({ name, path, node }) => {
      const quoted = textStart(name, LONGEST_QUOTE);
      const text = `"${quoted}" names a tool of an MCP server "${readServerName(name)}", which does not exist; name an agent as "agent:${quoted}"`;
      return warningProblem('UNKNOWN_TOOL_SERVER', path, `agent node "${node}": ${text}`, { node });
    });
}

/** Returns the tools or agents that nodes of a type name, including nodes of inline workflows. */
function listNamedTools(
  { nodes }: WorkflowDefinition,
  type: string,
  find: (config: JsonObject, place: string) => ToolPlace[],
): NamedTool[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    listToolsInConfig(node, type, { place: `nodes[${index}].config`, find }).map((it) => ({ ...it, node: node.id })),
  );
}

function listToolsInConfig(
  { type, config }: { type?: JsonValue; config?: JsonValue },
  sought: string,
  { place, find }: { place: string; find: (config: JsonObject, place: string) => ToolPlace[] },
): ToolPlace[] {
  if (!isJsonObject(config)) return [];
  if (type === sought) return find(config, place);
  return innerNodes(config.body).flatMap((it, index) =>
    isJsonObject(it) ? listToolsInConfig(it, sought, { place: `${place}.body.nodes[${index}].config`, find }) : [],
  );
}

function listLocalAgents({ tools }: JsonObject, place: string): ToolPlace[] {
  const named = agentToolEntries(tools).flatMap(({ index, reference, announce }): ToolPlace[] => {
    const path = `${place}.tools[${index}]`;
    return [
      { name: reference, path },
      ...(announce === undefined ? [] : [{ name: announce, path: `${path}.talk.announce` }]),
    ];
  });
  return named.filter(({ name }) => !/^https?:/i.test(name));
}

/**
 * Pattern of an agent's path below `/a2a`. A tool of this form counts as one of the MCP server `workflows`, `nodes` or
 * `agents`, and gets a warning if that server does not exist.
 */
const AGENT_LIKE = /^(workflows|nodes|agents)\//;

function listAgentLikeTools(config: JsonObject, place: string): ToolPlace[] {
  return ['tools', 'approve'].flatMap((key) => {
    const entries = config[key];
    return (Array.isArray(entries) ? entries : []).flatMap((name, index) =>
      typeof name === 'string' && AGENT_LIKE.test(name) ? [{ name, path: `${place}.${key}[${index}]` }] : [],
    );
  });
}

function readServerName(tool: string): string {
  return tool.slice(0, tool.indexOf('/'));
}

/** Returns the name of the workflow in a reference (`workflows/x/…`); for any other reference its path below `/a2a`. */
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

/** The tenant that saves definitions. */
export interface SavingTenant {
  tenant: string;
  /** Names of the workflows, and paths of the registered agents, that are saved together; absent: one is saved alone. */
  together?: ReadonlySet<string>;
}

/** Checks definitions before they are saved. */
@Injectable()
export class WorkflowCheck {
  /**
   * @param references absent outside of the service: then tools are not looked up
   * @param servers absent: names of MCP servers are not checked
   */
  constructor(
    private readonly nodeTypes: NodeTypes,
    @Optional() private readonly references?: AgentReferences,
    @Optional() private readonly servers?: ToolServers,
  ) {}

  /**
   * Returns the problems of a request body, errors first. Other workflows, agents and MCP servers are only looked up if
   * the definition itself has no errors.
   * @param store workflows of the tenant
   * @param saving absent: tools are not looked up
   */
  async findProblems(body: unknown, store: SavedWorkflows, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    return findBodyProblems(body, store, this.nodeTypes, (definition) => this.toolProblems(definition, saving));
  }

  /**
   * Returns the definition to save from a body. A node that names a workflow without a revision gets its newest
   * revision.
   * @param strict true to reject warnings as well
   * @param store workflows of the tenant
   * @param saving absent: tools are not looked up
   * @throws ProblemError 422 for a definition with errors
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
   * Finds tools of `agent` nodes that name agents or MCP servers that do not exist, and `external` nodes that name
   * missing registered agents. Call it outside of transactions.
   */
  async toolProblems(definition: WorkflowDefinition, saving?: SavingTenant): Promise<WorkflowProblem[]> {
    const { references, servers } = this;
    return references && saving ? findAgentToolProblems(definition, { references, servers, ...saving }) : [];
  }
}

/** Creates the problem response (422) for a definition with errors. */
export function invalidDefinition(errors: readonly WorkflowProblem[]): ProblemError {
  return new ProblemError(422, errors.map(({ detail }) => detail).join('; '), errors, 'INVALID_WORKFLOW');
}
