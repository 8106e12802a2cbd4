import {
  type AgentDetails,
  type AgentExecutor,
  type CurrentInput,
  type NodeTypes,
  type ServedAgent,
  UnknownAgent,
} from '#libs/executor';
import type { AgentSkill } from '#libs/protocol';
import { inlineRevision } from '../inline-workflow.js';
import { nodePath, workflowPath } from '../node-address.js';
import type { WorkflowNode, WorkflowRevision } from '../workflow.js';
import type { WorkflowInterface } from '../workflow-outline.js';
import { interfaceOf, writtenOf } from '../workflow-summary.js';

/** Makes the executors of what a workflow consists of. */
export interface ExecutorMakers {
  nodeTypes: NodeTypes;
  workflow(revision: WorkflowRevision): AgentExecutor;
  /** An agent as it is at the moment. */
  current(agent: ServedAgent): Promise<ServedAgent>;
}

const TEXT = 'text/plain';
const JSON_DATA = 'application/json';
/** Of a node's agent that declares no others, and of its skill. */
const AGENT_MODES = [TEXT, JSON_DATA];
const SKILL_MODES = [TEXT];
/** Media types of a workflow: its files go with its `input` nodes, whichever they are. */
export const WORKFLOW_MODES = { inputModes: [TEXT, JSON_DATA, '*/*'], outputModes: [TEXT, JSON_DATA] };

/** One revision of a workflow as an agent, and its nodes as agents; each is made when it is first asked for. */
export class WorkflowAgents {
  readonly path: string;
  private own: ServedAgent | undefined;
  private readonly nodes = new Map<string, ServedAgent>();
  /** The workflows that stand in its nodes. */
  private readonly inline: ReadonlyMap<string, WorkflowAgents>;

  constructor(
    readonly revision: WorkflowRevision,
    private readonly makers: ExecutorMakers,
  ) {
    this.path = workflowPath(revision.definition.name);
    const inline = revision.definition.nodes.flatMap(({ id, type }): [string, WorkflowAgents][] => {
      if (type !== 'workflow') return [];
      const found = inlineRevision(revision, id);
      return found ? [[id, new WorkflowAgents(found, makers)]] : [];
    });
    this.inline = new Map(inline);
  }

  get agent(): ServedAgent {
    this.own ??= this.makeAgent();
    return this.own;
  }

  /** With those of the workflows that stand in nodes, as `node.node`; sorted. */
  get nodeIds(): string[] {
    const own = this.revision.definition.nodes.map((node) => node.id);
    const inner = [...this.inline].flatMap(([id, { nodeIds }]) => nodeIds.map((it) => `${id}.${it}`));
    return [...own, ...inner].toSorted();
  }

  /** The workflow's one skill, with an example, and with what it takes and makes. */
  private async skillDetails(): Promise<AgentDetails> {
    const { name, nodes } = this.revision.definition;
    return detailsOf(this.agent.skills, new Map([[name, interfaceOf(nodes)]]));
  }

  /**
   * `undefined` where the workflow has no such node.
   * @throws UnknownAgent where nobody executes nodes of its type
   */
  node(id: string): ServedAgent | undefined {
    const made = this.nodes.get(id);
    if (made) return made;
    const [around = '', ...inner] = id.split('.');
    if (inner.length > 0) return this.inline.get(around)?.node(inner.join('.'));
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
      executor: this.makers.workflow(this.revision),
      changedAt: this.revision.updatedAt,
      details: () => this.skillDetails(),
      innerSkills: () => this.innerSkills(),
    };
  }

  /** Its nodes are agents of their own: their skills are listed beside the one of the whole. */
  private async innerSkills(): Promise<AgentSkill[]> {
    const nodes = this.nodeIds.flatMap((id) => this.nodeOrNothing(id) ?? []);
    return (await Promise.all(nodes.map((it) => this.makers.current(it)))).flatMap(({ skills }) => skills);
  }

  /** `undefined` also where nobody executes nodes of its type. */
  nodeOrNothing(id: string): ServedAgent | undefined {
    try {
      return this.node(id);
    } catch (error) {
      if (error instanceof UnknownAgent) return undefined;
      throw error;
    }
  }

  /** Cards are public: what a node's config says to its model, or to its caller, stands in none of them. */
  private makeNode(node: WorkflowNode): ServedAgent {
    const { definition, revision } = this.revision;
    const description = writtenOf(node) ?? unwritten(node.type, node.id, definition.name);
    const of = { workflow: definition.name, revision, ...(definition.language && { language: definition.language }) };
    const executor = this.makers.nodeTypes.executor({ ...node, of });
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

/** Returns the description of a node whose author wrote none. */
export function unwritten(type: string, id: string, workflow: string): string {
  return `${type} node ${id} of workflow ${workflow}`;
}

/** The skill of a workflow, at its own agent and at the service. */
export function workflowSkill({ name, description }: { name: string; description?: string }): AgentSkill {
  const said = description || `The workflow ${name}`;
  return { id: name, name, description: said, tags: ['workflow'], ...WORKFLOW_MODES };
}

/** The skills of workflows with an example each, and with what they take and make. */
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

/** A node's agent that takes something else by now. */
export function withInput(agent: ServedAgent, { inputModes, changedAt }: CurrentInput): ServedAgent {
  const isNewer = changedAt !== undefined && (agent.changedAt === undefined || changedAt > agent.changedAt);
  return {
    ...agent,
    skills: agent.skills.map((skill) => ({ ...skill, inputModes: inputModes ?? SKILL_MODES })),
    inputModes: inputModes ?? AGENT_MODES,
    ...(isNewer && { changedAt }),
  };
}
