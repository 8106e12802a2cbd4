import {
  type Artifact,
  artifactReference,
  dataPart,
  firstData,
  type JsonObject,
  type JsonValue,
  type Part,
  templateReferences,
  type TemplateResolver,
  TextBudget,
  textPart,
} from '#libs/protocol';
import { type FillingSource, NodeFilling } from './expressions/node-filling.js';
import type { GraphEdge } from './graph-edge.js';
import type { NodeInstance } from './node-run.js';
import { isOrdered, templateKey, templateValues } from './node-templates.js';
import { contentFor, type NodeContent, type SaidContent, saidContent, unsaidByReference } from './passed-content.js';
import { inputText, inputValue, userInputNode } from './run-inputs.js';
import type { WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** The part of a run from which the Message to a node is built, as seen from that node. */
export interface MessageSource {
  inputs: JsonObject;
  nodes: Pick<ReadonlyMap<string, NodeInstance>, 'get'>;
  /** Text of the caller, if no `input` node has it. */
  text?: string;
  /**
   * Files of the Message that began the run: for `input` nodes, or for all nodes if the workflow has no `input` node.
   */
  files?: readonly Part[];
  /** True if the node was reached over the edge. Absent: true for every edge. */
  isReachedBy?(edge: GraphEdge): boolean;
  /** Further content for a node without a prompt: texts, or results of other nodes. */
  repeated?: readonly (string | NodeInstance)[];
  /**
   * True if a node was skipped or canceled, so a reference to it becomes an empty text. Absent: the reference stays as
   * written.
   */
  leavesOut?(id: string): boolean;
  /** Evaluates expressions in texts; absent in language 1. */
  language?: FillingSource['language'];
}

/**
 * Returns the content of the Message that calls a node: its text, arguments or data, and the remaining results of the
 * nodes before it.
 * - A `workflow` node with inputs is sent only its inputs.
 * - A node that works on a text, and would be sent no text, data or file, is sent `Execute node <id>`.
 * @param budget limit of all texts together
 * @throws ContentTooLarge beyond the budget, before anything is built
 * @throws FailedExpression
 */
export function nodeContent(
  node: WorkflowNode,
  graph: WorkflowGraph,
  run: MessageSource,
  budget = new TextBudget(),
): NodeContent {
  const filling = nodeFilling(node, run, budget);
  const { args = {}, inputs, data } = node.config;
  if (node.type === 'workflow' && inputs !== undefined)
    return { own: [dataPart(filling.fillValue('config.inputs', inputs))], passed: [], leftOut: [] };
  const { text, rest, leftOut } = saidTo(node, graph, run, filling);
  const own =
    node.type === 'tool' ? [dataPart({ args: filling.fillValue('config.args', args) })] : ownData(node, data, filling);
  const content = contentFor(node.type, { text, rest }, own);
  return { ...withOrder(node, content), leftOut: [...leftOut, ...content.leftOut] };
}

/** Replaces an empty Message by the order to execute the node. */
function withOrder({ id, type }: WorkflowNode, content: NodeContent): NodeContent {
  const isSilent = content.passed.length === 0 && content.own.every(({ text }) => text?.trim() === '');
  if (!isSilent || !isOrdered(type)) return content;
  return { ...content, own: [textPart(`Execute node ${id}`)] };
}

function ownData(node: WorkflowNode, data: JsonValue | undefined, filling: NodeFilling): Part[] {
  const takesData = data !== undefined && templateValues(node).some(({ path }) => path === 'config.data');
  return takesData ? [dataPart(filling.fillValue('config.data', data))] : [];
}

/** Returns the filler for the templates of a node. */
export function nodeFilling(node: WorkflowNode, run: MessageSource, budget = new TextBudget()): NodeFilling {
  const { language } = run;
  return new NodeFilling(node.id, { resolve: templateResolver(run), ...(language && { language }) }, budget);
}

/**
 * Returns the resolver of a run's references. The id of an input means the input, even if a node of that id has a
 * result.
 */
export function templateResolver(run: MessageSource): TemplateResolver {
  return (id, suffix) => {
    const input = referredInput(run, id);
    const artifact = input === undefined ? run.nodes.get(id)?.artifacts[0] : inputArtifact(input);
    return artifactReference(artifact, suffix) ?? (isEmptied(run, id) ? '' : undefined);
  };
}

/** True if a reference resolves to a value. Does not build the value. */
export function standsForSomething(run: MessageSource, id: string, suffix: readonly string[]): boolean {
  const wantsData = suffix.length === 1 && suffix[0] === 'data';
  if (referredInput(run, id) !== undefined) return !wantsData;
  const artifact = run.nodes.get(id)?.artifacts[0];
  if (artifact === undefined) return false;
  return !wantsData || firstData(artifact.parts) !== undefined;
}

/** True if an unresolved reference becomes an empty text. */
export function isEmptied(run: MessageSource, id: string): boolean {
  return run.leavesOut?.(id) ?? false;
}

function referredInput({ inputs }: MessageSource, id: string): JsonValue | undefined {
  return inputValue(inputs, id) ?? inputValue(inputs, userInputNode(id) ?? '');
}

/**
 * Returns the text and files for a node: its prompt with the files that it names; without a prompt the results of the
 * nodes before it.
 */
export function saidTo(
  node: WorkflowNode,
  graph: WorkflowGraph,
  run: MessageSource,
  filling: NodeFilling,
): SaidContent & { leftOut: Part[] } {
  if (node.type === 'input') {
    const input = inputValue(run.inputs, node.id);
    return { text: input === undefined ? '' : inputText(input), rest: [...(run.files ?? [])], leftOut: [] };
  }
  const key = templateKey(node.type);
  const prompt = node.config[key];
  if (typeof prompt === 'string' && prompt !== '')
    return { text: filling.fillText(`config.${key}`, prompt), ...besidePrompt(prompt, run) };
  const incoming = graph.incoming(node.id);
  const taken = incoming.filter((edge) => run.isReachedBy?.(edge) ?? true);
  const before = [...new Set(taken.map(({ from }) => from))].map((id) => saidBy(graph.node(id), run));
  const repeated = (run.repeated ?? []).map((it) =>
    typeof it === 'string' ? { text: it, rest: [] } : contentSaid(graph.node(it.id), it),
  );
  const all = [
    ...(incoming.length === 0 ? [{ text: run.text ?? '', rest: [...(run.files ?? [])] }] : before),
    ...repeated,
  ];
  for (const { text } of all) filling.texts.spendCharacters(text.length + SEPARATOR.length);
  const texts = all.flatMap(({ text }) => (text === '' ? [] : [text]));
  return { text: texts.join(SEPARATOR), rest: all.flatMap(({ rest }) => rest), leftOut: [] };
}

/** Returns the files of the nodes that a prompt names, and their content that the prompt leaves out. */
function besidePrompt(prompt: string, run: MessageSource): { rest: Part[]; leftOut: Part[] } {
  const named = new Map<string, Set<'text' | 'data'>>();
  for (const { id, suffix } of templateReferences(prompt)) {
    const member = suffix.length === 1 && suffix[0] === 'data' ? 'data' : 'text';
    named.set(id, (named.get(id) ?? new Set()).add(member));
  }
  const unsaid = [...named].flatMap(([id, members]) => {
    const artifacts = referredInput(run, id) === undefined ? run.nodes.get(id)?.artifacts : undefined;
    // A prompt that names only the data needs no files.
    if (artifacts === undefined || !members.has('text')) return [];
    return [unsaidByReference(id, artifacts, members.has('data'))];
  });
  // An expression may use the remaining content.
  const isExpressive = run.language !== undefined && prompt.includes('${');
  const leftOut = isExpressive ? [] : unsaid.flatMap((it) => it.leftOut);
  return { rest: unsaid.flatMap(({ files }) => files), leftOut };
}

const SEPARATOR = '\n\n';

/**
 * Node types whose results reach the next node as text only. All other types, including those of plugins, pass on data
 * if they have no text.
 */
const TEXT_TYPES = new Set(['input', 'agent', 'output', 'external', 'script', 'conversation', 'brainstorm']);

function saidBy(node: WorkflowNode, { nodes, inputs }: MessageSource): SaidContent {
  const run = nodes.get(node.id);
  if (run && run.artifacts.length > 0) return contentSaid(node, run);
  const input = inputValue(inputs, node.id);
  return { text: input === undefined ? '' : inputText(input), rest: [] };
}

function contentSaid(node: WorkflowNode, run: NodeInstance): SaidContent {
  return saidContent(node.id, run.artifacts, mayBeData(node, run));
}

/** True if the node's data count as its text: it has an output schema, or its result is its `fallback`. */
function mayBeData({ type, each, output, config }: WorkflowNode, { fallback }: NodeInstance): boolean {
  if (each !== undefined || output !== undefined || !TEXT_TYPES.has(type)) return true;
  return fallback === true || (type === 'agent' && config['output'] !== undefined);
}

function inputArtifact(value: JsonValue): Artifact {
  return { artifactId: '', parts: [textPart(inputText(value))] };
}
