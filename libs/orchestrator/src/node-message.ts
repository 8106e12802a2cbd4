import {
  type Artifact,
  artifactReference,
  dataPart,
  firstData,
  type JsonObject,
  type JsonValue,
  type Part,
  type TemplateResolver,
  TextBudget,
  textPart,
} from '#libs/protocol';
import { type FillingSource, NodeFilling } from './expressions/node-filling.js';
import type { GraphEdge } from './graph-edge.js';
import { outputText } from './node-output.js';
import type { NodeRun } from './node-run.js';
import { templateKey, templateValues } from './node-templates.js';
import { inputText, inputValue, userInputNode } from './run-inputs.js';
import type { WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** As much of a run as the Message to a node is made of, as it is seen from that node. */
export interface MessageSource {
  inputs: JsonObject;
  nodes: Pick<ReadonlyMap<string, NodeRun>, 'get'>;
  /** What the caller said, where no `input` node has it. */
  text?: string;
  /** Whether the node was reached over an edge; by every one unless said otherwise. */
  carries?(edge: GraphEdge): boolean;
  /** What a node without a prompt is sent beside what the nodes before it have said: texts, and what others have said. */
  repeated?: readonly (string | NodeRun)[];
  /** True if a node was skipped or canceled: a reference to it stands for an empty text. Absent: it stays as it is written. */
  leavesOut?(id: string): boolean;
  /** Where texts have expressions. */
  language?: FillingSource['language'];
}

/**
 * The Parts of the Message that a node is called with: its text, for a tool its arguments, and its data. A workflow with
 * inputs of its own gets those alone.
 * @param budget what all of it together may come to
 * @throws ContentTooLarge beyond it, before anything is put together
 * @throws FailedExpression
 */
export function nodeParts(
  node: WorkflowNode,
  graph: WorkflowGraph,
  run: MessageSource,
  budget = new TextBudget(),
): Part[] {
  const filling = nodeFilling(node, run, budget);
  const { args = {}, inputs, data } = node.config;
  if (node.type === 'workflow' && inputs !== undefined) return [dataPart(filling.value('config.inputs', inputs))];
  const text = textPart(nodeText(node, graph, run, filling));
  if (node.type === 'tool') return [text, dataPart({ args: filling.value('config.args', args) })];
  const takesData = data !== undefined && templateValues(node).some(({ path }) => path === 'config.data');
  return takesData ? [text, dataPart(filling.value('config.data', data))] : [text];
}

/** What fills the templates of a node. */
export function nodeFilling(node: WorkflowNode, run: MessageSource, budget = new TextBudget()): NodeFilling {
  const { language } = run;
  return new NodeFilling(node.id, { resolve: templateResolver(run), ...(language && { language }) }, budget);
}

/** What references of a run stand for. The id of an input means the input, whatever a node of that id answered. */
export function templateResolver(run: MessageSource): TemplateResolver {
  return (id, suffix) => {
    const input = referredInput(run, id);
    const artifact = input === undefined ? run.nodes.get(id)?.artifacts[0] : inputArtifact(input);
    return artifactReference(artifact, suffix) ?? (isEmptied(run, id) ? '' : undefined);
  };
}

/** Whether a reference of a run stands for anything, without putting together what. */
export function standsForSomething(run: MessageSource, id: string, suffix: readonly string[]): boolean {
  const wantsData = suffix.length === 1 && suffix[0] === 'data';
  if (referredInput(run, id) !== undefined) return !wantsData;
  const artifact = run.nodes.get(id)?.artifacts[0];
  if (artifact === undefined) return false;
  return !wantsData || firstData(artifact.parts) !== undefined;
}

/** True if a reference that stands for nothing becomes an empty text. */
export function isEmptied(run: MessageSource, id: string): boolean {
  return run.leavesOut?.(id) ?? false;
}

function referredInput({ inputs }: MessageSource, id: string): JsonValue | undefined {
  return inputValue(inputs, id) ?? inputValue(inputs, userInputNode(id) ?? '');
}

/** The text that a node is sent; of one without a prompt what the nodes before it have said. */
export function nodeText(node: WorkflowNode, graph: WorkflowGraph, run: MessageSource, filling: NodeFilling): string {
  if (node.type === 'input') {
    const input = inputValue(run.inputs, node.id);
    return input === undefined ? '' : inputText(input);
  }
  const key = templateKey(node.type);
  const prompt = node.config[key];
  if (typeof prompt === 'string' && prompt !== '') return filling.text(`config.${key}`, prompt);
  const incoming = graph.incoming(node.id);
  const taken = incoming.filter((edge) => run.carries?.(edge) ?? true);
  const before = [...new Set(taken.map(({ from }) => from))].map((id) => textOf(graph.node(id), run));
  const repeated = (run.repeated ?? []).map((it) => (typeof it === 'string' ? it : said(graph.node(it.id), it)));
  const texts = [...(incoming.length === 0 ? [run.text ?? ''] : before), ...repeated];
  for (const text of texts) filling.texts.spend(text.length + SEPARATOR.length);
  return texts.filter((text) => text !== '').join(SEPARATOR);
}

const SEPARATOR = '\n\n';

/** Nodes of which the next one hears texts alone; all others say data where they say nothing else, those of plugins too. */
const TEXT_TYPES = new Set(['input', 'agent', 'output', 'external', 'script', 'conversation', 'brainstorm']);

function textOf(node: WorkflowNode, { nodes, inputs }: MessageSource): string {
  const run = nodes.get(node.id);
  if (run && run.artifacts.length > 0) return said(node, run);
  const input = inputValue(inputs, node.id);
  return input === undefined ? '' : inputText(input);
}

function said(node: WorkflowNode, run: NodeRun): string {
  return mayBeData(node, run) ? (artifactReference(run.artifacts[0], []) ?? '') : outputText(run);
}

/** A node that is given a schema for its result, and one whose `fallback` it is, say data too. */
function mayBeData({ type, each, output, config }: WorkflowNode, { fallback }: NodeRun): boolean {
  if (each !== undefined || output !== undefined || !TEXT_TYPES.has(type)) return true;
  return fallback === true || (type === 'agent' && config['output'] !== undefined);
}

function inputArtifact(value: JsonValue): Artifact {
  return { artifactId: '', parts: [textPart(inputText(value))] };
}
