import {
  type AgentDetails,
  type AgentExecutor,
  type BeginModes,
  type CurrentInput,
  type NodeTypes,
  type ServedAgent,
  UnknownAgent,
} from '#libs/agents';
import type { AgentSkill, Part } from '#libs/protocol';
import { WorkflowGraph, type WorkflowNode, type WorkflowRevision } from '#libs/workflow-definition';
import { nodePath, workflowPath } from '#libs/workflow-engine';
import { findInlineRevision, type WorkflowInterface } from '../storage/workflow-store.js';
import {
  defaultDescription,
  interfaceOf,
  JSON_DATA,
  TEXT,
  WORKFLOW_MODES,
  workflowSkill,
  writtenOf,
} from './workflow-summary.js';

/** Dependencies for creating the agents of a workflow. */
interface ExecutorMakers {
  nodeTypes: NodeTypes;
  /** Returns the executor of a workflow. */
  makeExecutor(revision: WorkflowRevision): AgentExecutor;
  /** Returns an agent with its current input media types. */
  refreshAgent(agent: ServedAgent): Promise<ServedAgent>;
  /** Returns the media types that the agent of a node accepts at present; a promise if they must be looked up. */
  findNodeModes(agent: ServedAgent): BeginModes;
}

/** Media types of a node's agent that declares none. */
const AGENT_MODES = [TEXT, JSON_DATA];
/** Media range that matches all media types. */
const ANY = '*/*';
/** Maximum number of media types that a workflow's card names. */
const MOST_MODES = 100;
/** Media types of the skill of a node's agent that declares none. */
const SKILL_MODES = [TEXT];

/**
 * The agents of one revision of a workflow: one for the workflow, and one for each node. Each agent is created at its
 * first use.
 */
export class WorkflowAgents {
  readonly path: string;
  private own: ServedAgent | undefined;
  private firstNodes: readonly string[] | undefined;
  private readonly nodes = new Map<string, ServedAgent>();
  /** Workflows that are defined inline in nodes, by node id. */
  private readonly inline: ReadonlyMap<string, WorkflowAgents>;

  constructor(
    readonly revision: WorkflowRevision,
    private readonly makers: ExecutorMakers,
  ) {
    this.path = workflowPath(revision.definition.name);
    const inline = revision.definition.nodes.flatMap(({ id, type }): [string, WorkflowAgents][] => {
      if (type !== 'workflow') return [];
      const found = findInlineRevision(revision, id);
      return found ? [[id, new WorkflowAgents(found, makers)]] : [];
    });
    this.inline = new Map(inline);
  }

  get agent(): ServedAgent {
    this.own ??= this.makeAgent();
    return this.own;
  }

  /** Sorted ids of all nodes. A node of an inline workflow has the id `outer.inner`. */
  get nodeIds(): string[] {
    const own = this.revision.definition.nodes.map((node) => node.id);
    const inner = [...this.inline].flatMap(([id, { nodeIds }]) => nodeIds.map((it) => `${id}.${it}`));
    return [...own, ...inner].toSorted();
  }

  /** Returns the only skill on the card of the workflow, with an example and its schemas. */
  private async skillDetails(): Promise<AgentDetails> {
    const { name, nodes } = this.revision.definition;
    return detailsOf(this.agent.skills, new Map([[name, interfaceOf(nodes)]]));
  }

  /**
   * Returns the agent of a node; `undefined` if the workflow has no such node.
   * @throws UnknownAgent if its node type has no executor
   */
  findNode(id: string): ServedAgent | undefined {
    const made = this.nodes.get(id);
    if (made) return made;
    const [around = '', ...inner] = id.split('.');
    if (inner.length > 0) return this.inline.get(around)?.findNode(inner.join('.'));
    const node = this.revision.definition.nodes.find((it) => it.id === id);
    if (!node) return undefined;
    const agent = this.makeNode(node);
    this.nodes.set(id, agent);
    return agent;
  }

  private makeAgent(): ServedAgent {
    const { name } = this.revision.definition;
    const skill = workflowSkill(this.revision.definition);
    return {
      path: this.path,
      name,
      description: skill.description,
      version: this.revision.revision,
      skills: [skill],
      ...WORKFLOW_MODES,
      beginModes: (parts) => this.beginModes(parts),
      executor: this.makers.makeExecutor(this.revision),
      changedAt: this.revision.updatedAt,
      details: () => this.skillDetails(),
      innerSkills: () => this.innerSkills(),
    };
  }

  /**
   * Returns the media types that Messages to the workflow may have; `undefined` if any. The definition may name them.
   * Otherwise they are text and JSON, which every node accepts, and all types that the first nodes accept.
   * - For a Message, a node with a remote agent accepts any type, because a Part that the agent cannot read is
   *   described to it as text.
   * - For a card, such a node accepts the types on the card of its agent.
   * @param parts Parts of a Message that is to be checked; absent for a card
   */
  beginModes(parts?: readonly Part[]): BeginModes {
    const { inputModes } = this.revision.definition;
    if (inputModes !== undefined || parts?.every(isPlainPart)) return inputModes;
    this.firstNodes ??= this.findFirstNodes();
    const found = this.firstNodes.map((id) => this.findNodeModes(id, parts));
    const known = found.flatMap((it) => (it instanceof Promise ? [] : [it]));
    return known.length < found.length ? Promise.all(found.map(async (it) => it)).then(uniteModes) : uniteModes(known);
  }

  /** Returns the ids of the nodes that get the content of a Message to the workflow. */
  private findFirstNodes(): string[] {
    const { nodes } = this.revision.definition;
    const inputs = nodes.filter(({ type }) => type === 'input').map(({ id }) => id);
    if (inputs.length > 0) return inputs;
    const graph = WorkflowGraph.fromDefinition(this.revision.definition);
    return graph.inside.filter((id) => graph.incoming(id).length === 0);
  }

  private findNodeModes(id: string, parts: readonly Part[] | undefined): BeginModes {
    const inner = this.inline.get(id);
    if (inner) return inner.beginModes(parts);
    const agent = this.findExecutableNode(id);
    if (agent === undefined) return [];
    if (parts && agent.executor.findInputModes) return undefined;
    return this.makers.findNodeModes(agent);
  }

  /** Returns the skills of the workflow's nodes, for lists that show them beside the skill of the workflow. */
  private async innerSkills(): Promise<AgentSkill[]> {
    const nodes = this.nodeIds.flatMap((id) => this.findExecutableNode(id) ?? []);
    return (await Promise.all(nodes.map((it) => this.makers.refreshAgent(it)))).flatMap(({ skills }) => skills);
  }

  /** Returns the agent of a node; `undefined` if there is no such node, or its node type has no executor. */
  findExecutableNode(id: string): ServedAgent | undefined {
    try {
      return this.findNode(id);
    } catch (error) {
      if (error instanceof UnknownAgent) return undefined;
      throw error;
    }
  }

  /**
   * Creates the agent of a node. Agent cards are public, so they never contain a prompt or other config of a node,
   * except its description.
   */
  private makeNode(node: WorkflowNode): ServedAgent {
    const { definition, revision } = this.revision;
    const description = writtenOf(node) ?? defaultDescription(node.type, node.id, definition.name);
    const of = { workflow: definition.name, revision, ...(definition.language && { language: definition.language }) };
    const executor = this.makers.nodeTypes.createExecutor({ ...node, of });
    const path = nodePath(definition.name, node.id);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const { inputModes, outputModes = [TEXT, JSON_DATA], capabilities, does } = executor.declares ?? {};
    const skill = {
      id: name,
      name: `${node.type}: ${name}`,
      description: writtenOf(node) ?? does ?? description,
      tags: [node.type],
    };
    const agent: ServedAgent = {
      path,
      name,
      description,
      version: this.revision.revision,
      skills: [{ ...skill, inputModes: inputModes ?? SKILL_MODES, outputModes }],
      inputModes: inputModes ?? AGENT_MODES,
      outputModes,
      ...(capabilities && { capabilities }),
      executor,
      changedAt: this.revision.updatedAt,
    };
    // As at the workflow, what the agent elsewhere does not read is described to it.
    if (executor.findInputModes) agent.beginModes = (parts) => (parts ? undefined : this.makers.findNodeModes(agent));
    return agent;
  }
}

/**
 * True for a Part with text or JSON data. Every workflow accepts such a Part, unless its definition names other media
 * types.
 */
function isPlainPart({ text, data, mediaType }: Part): boolean {
  if (text !== undefined) return mediaType === undefined || mediaType.startsWith('text/');
  return data !== undefined && (mediaType === undefined || mediaType === JSON_DATA);
}

/**
 * Returns the union of text, JSON and all given media types. Returns `undefined`, which means any type, if
 * - a list is `undefined`,
 * - a list contains the range of all types, or
 * - there are too many types for a card (MOST_MODES).
 */
function uniteModes(found: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const all = new Set([TEXT, JSON_DATA, ...found.flatMap((modes) => modes ?? [ANY])]);
  return all.has(ANY) || all.size > MOST_MODES ? undefined : [...all];
}

/** Returns details of an agent: its skills with examples, and the schemas of their inputs and outputs. */
export function detailsOf(
  skills: readonly AgentSkill[],
  interfaces: ReadonlyMap<string, WorkflowInterface>,
): AgentDetails {
  const schemas: AgentDetails['schemas'] = {};
  const detailed = skills.map((skill): AgentSkill => {
    const found = interfaces.get(skill.id);
    if (found === undefined) return skill;
    const { input, artifacts, example } = found;
    schemas[skill.id] = { input, artifacts };
    return example === undefined ? skill : { ...skill, examples: [example] };
  });
  return { skills: detailed, schemas };
}

/** Returns a copy of a node's agent with the input media types that it accepts at present. */
export function withInput(agent: ServedAgent, { inputModes, changedAt }: CurrentInput): ServedAgent {
  const isNewer = changedAt !== undefined && (agent.changedAt === undefined || changedAt > agent.changedAt);
  return {
    ...agent,
    skills: agent.skills.map((skill) => ({ ...skill, inputModes: inputModes ?? SKILL_MODES })),
    inputModes: inputModes ?? AGENT_MODES,
    ...(isNewer && { changedAt }),
  };
}
