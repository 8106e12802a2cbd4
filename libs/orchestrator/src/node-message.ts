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
import type { NodeRun } from './node-run.js';
import { templateKey, templateValues } from './node-templates.js';
import { contentFor, type NodeContent, type SaidContent, saidContent, unsaidByReference } from './passed-content.js';
import { inputText, inputValue, userInputNode } from './run-inputs.js';
import type { WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** As much of a run as the Message to a node is made of, as it is seen from that node. */
export interface MessageSource {
  inputs: JsonObject;
  nodes: Pick<ReadonlyMap<string, NodeRun>, 'get'>;
  /** What the caller said, where no `input` node has it. */
  text?: string;
  /** Files of the Message that the run began with: for an `input` node, and where no `input` node has them. */
  files?: readonly Part[];
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
 * What the Message has that a node is called with: its text, for a tool its arguments, its data, and what else the
 * nodes before it have said. A workflow with inputs of its own gets those alone. A node that works on a text and would
 * get none, no data and no file is sent `Execute node <id>`.
 * @param budget what all texts of it together may come to
 * @throws ContentTooLarge beyond it, before anything is put together
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
    return { own: [dataPart(filling.value('config.inputs', inputs))], passed: [], leftOut: [] };
  const { text, rest, leftOut } = saidTo(node, graph, run, filling);
  const own =
    node.type === 'tool' ? [dataPart({ args: filling.value('config.args', args) })] : ownData(node, data, filling);
  const content = contentFor(node.type, { text, rest }, own);
  return { ...withOrder(node, content), leftOut: [...leftOut, ...content.leftOut] };
}

/** Replaces a Message that says nothing by the order to execute the node. */
function withOrder({ id, type }: WorkflowNode, content: NodeContent): NodeContent {
  const isSilent = content.passed.length === 0 && content.own.every(({ text }) => text?.trim() === '');
  if (!isSilent || !isOrdered(type)) return content;
  return { ...content, own: [textPart(`Execute node ${id}`)] };
}

function ownData(node: WorkflowNode, data: JsonValue | undefined, filling: NodeFilling): Part[] {
  const takesData = data !== undefined && templateValues(node).some(({ path }) => path === 'config.data');
  return takesData ? [dataPart(filling.value('config.data', data))] : [];
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

/** Types whose work hangs on no text, or that hand on what they get as it is. */
const UNORDERED_TYPES: ReadonlySet<string> = new Set(['input', 'output', 'set', 'wait', 'human', 'workflow', 'tool']);

/** Returns true if a node of the type is sent `Execute node <id>` where nothing else is said to it. */
export function isOrdered(type: string): boolean {
  return !UNORDERED_TYPES.has(type);
}

/** What a node is told: its prompt and the files that this names; of one without a prompt what the nodes before it have said. */
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
    return { text: filling.text(`config.${key}`, prompt), ...besidePrompt(prompt, run) };
  const incoming = graph.incoming(node.id);
  const taken = incoming.filter((edge) => run.carries?.(edge) ?? true);
  const before = [...new Set(taken.map(({ from }) => from))].map((id) => saidBy(graph.node(id), run));
  const repeated = (run.repeated ?? []).map((it) =>
    typeof it === 'string' ? { text: it, rest: [] } : said(graph.node(it.id), it),
  );
  const all = [
    ...(incoming.length === 0 ? [{ text: run.text ?? '', rest: [...(run.files ?? [])] }] : before),
    ...repeated,
  ];
  for (const { text } of all) filling.texts.spend(text.length + SEPARATOR.length);
  const texts = all.flatMap(({ text }) => (text === '' ? [] : [text]));
  return { text: texts.join(SEPARATOR), rest: all.flatMap(({ rest }) => rest), leftOut: [] };
}

/** Of the nodes that a prompt names: the files that go with it, and what it does not say. */
function besidePrompt(prompt: string, run: MessageSource): { rest: Part[]; leftOut: Part[] } {
  const named = new Map<string, Set<'text' | 'data'>>();
  for (const { id, suffix } of templateReferences(prompt)) {
    const member = suffix.length === 1 && suffix[0] === 'data' ? 'data' : 'text';
    named.set(id, (named.get(id) ?? new Set()).add(member));
  }
  const unsaid = [...named].flatMap(([id, members]) => {
    const artifacts = referredInput(run, id) === undefined ? run.nodes.get(id)?.artifacts : undefined;
    // Who names the data alone wants nothing else.
    if (artifacts === undefined || !members.has('text')) return [];
    return [unsaidByReference(id, artifacts, members.has('data'))];
  });
  // An expression may say the rest.
  const isExpressive = run.language !== undefined && prompt.includes('${');
  const leftOut = isExpressive ? [] : unsaid.flatMap((it) => it.leftOut);
  return { rest: unsaid.flatMap(({ files }) => files), leftOut };
}

const SEPARATOR = '\n\n';

/** Nodes of which the next one hears texts alone; all others say data where they say nothing else, those of plugins too. */
const TEXT_TYPES = new Set(['input', 'agent', 'output', 'external', 'script', 'conversation', 'brainstorm']);

function saidBy(node: WorkflowNode, { nodes, inputs }: MessageSource): SaidContent {
  const run = nodes.get(node.id);
  if (run && run.artifacts.length > 0) return said(node, run);
  const input = inputValue(inputs, node.id);
  return { text: input === undefined ? '' : inputText(input), rest: [] };
}

function said(node: WorkflowNode, run: NodeRun): SaidContent {
  return saidContent(node.id, run.artifacts, mayBeData(node, run));
}

/** A node that is given a schema for its result, and one whose `fallback` it is, say data too. */
function mayBeData({ type, each, output, config }: WorkflowNode, { fallback }: NodeRun): boolean {
  if (each !== undefined || output !== undefined || !TEXT_TYPES.has(type)) return true;
  return fallback === true || (type === 'agent' && config['output'] !== undefined);
}

function inputArtifact(value: JsonValue): Artifact {
  return { artifactId: '', parts: [textPart(inputText(value))] };
}
