import {
  type AgentDetails,
  type AgentExecutor,
  type CurrentInput,
  type NodeTypes,
  type ServedAgent,
  UnknownAgent,
} from '#libs/executor';
import type { AgentSkill } from '#libs/protocol';
import { findInlineRevision } from '../inline-workflow.js';
import { nodePath, workflowPath } from '../node-address.js';
import type { WorkflowNode, WorkflowRevision } from '../workflow.js';
import type { WorkflowInterface } from '../workflow-outline.js';
import { interfaceOf, writtenOf } from '../workflow-summary.js';
import { defaultDescription, JSON_DATA, TEXT, WORKFLOW_MODES, workflowSkill } from './agent-page.js';

/** Factories for the executors of a workflow's agents. */
export interface ExecutorMakers {
  nodeTypes: NodeTypes;
  makeExecutor(revision: WorkflowRevision): AgentExecutor;
  /** Returns an agent with its current input types. */
  refreshAgent(agent: ServedAgent): Promise<ServedAgent>;
}

/** Media types of a node's agent that declares none, and of its skill. */
const AGENT_MODES = [TEXT, JSON_DATA];
const SKILL_MODES = [TEXT];

/** The agents of one revision of a workflow: the workflow itself and its nodes. Each is created at its first use. */
export class WorkflowAgents {
  readonly path: string;
  private own: ServedAgent | undefined;
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

  /** Sorted ids of all nodes, including nodes of inline workflows as `node.node`. */
  get nodeIds(): string[] {
    const own = this.revision.definition.nodes.map((node) => node.id);
    const inner = [...this.inline].flatMap(([id, { nodeIds }]) => nodeIds.map((it) => `${id}.${it}`));
    return [...own, ...inner].toSorted();
  }

  /** Returns the workflow's only skill with an example and its schemas. */
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
      executor: this.makers.makeExecutor(this.revision),
      changedAt: this.revision.updatedAt,
      details: () => this.skillDetails(),
      innerSkills: () => this.innerSkills(),
    };
  }

  /** Returns the skills of the nodes. They are listed beside the skill of the workflow. */
  private async innerSkills(): Promise<AgentSkill[]> {
    const nodes = this.nodeIds.flatMap((id) => this.findExecutableNode(id) ?? []);
    return (await Promise.all(nodes.map((it) => this.makers.refreshAgent(it)))).flatMap(({ skills }) => skills);
  }

  /** Returns the agent of a node; `undefined` also if its node type has no executor. */
  findExecutableNode(id: string): ServedAgent | undefined {
    try {
      return this.findNode(id);
    } catch (error) {
      if (error instanceof UnknownAgent) return undefined;
      throw error;
    }
  }

  /** Creates the agent of a node. Cards are public, so they never contain prompts or other config of a node. */
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
    return {
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
  }
}

/** Returns skills with examples and with the schemas of their inputs and outputs. */
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

/** Returns a node's agent with its current input types. */
export function withInput(agent: ServedAgent, { inputModes, changedAt }: CurrentInput): ServedAgent {
  const isNewer = changedAt !== undefined && (agent.changedAt === undefined || changedAt > agent.changedAt);
  return {
    ...agent,
    skills: agent.skills.map((skill) => ({ ...skill, inputModes: inputModes ?? SKILL_MODES })),
    inputModes: inputModes ?? AGENT_MODES,
    ...(isNewer && { changedAt }),
  };
}
