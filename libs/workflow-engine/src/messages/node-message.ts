import type { CalledTask } from '#libs/a2a-client';
import {
  type Artifact,
  artifactReference,
  briefText,
  contentLength,
  dataPart,
  firstData,
  firstTextRow,
  isFilePart,
  joinedText,
  type JsonObject,
  type JsonValue,
  type Part,
  PART_OF,
  partAsLine,
  partAsText,
  partKind,
  spokenParts,
  templateReferences,
  type TemplateResolver,
  TextBudget,
  textPart,
  UNREAD_PARTS,
} from '#libs/protocol';
import {
  type GraphEdge,
  inputText,
  inputValue,
  isOrdered,
  templateKey,
  templateValues,
  userInputNode,
  type WorkflowGraph,
  type WorkflowNode,
} from '#libs/workflow-definition';
import type { NodeInstance } from '../state/node-instance.js';
import { type FillingSource, NodeFilling } from './run-expressions.js';

/** Result of a node as the next node receives it. */
interface SaidContent {
  text: string;
  /** Content beyond the text, in order: data, files, further texts and Artifacts. */
  rest: Part[];
}

/** Parts of a Message to a node. */
export interface NodeContent {
  /** Text, data and arguments from the node's definition. */
  own: Part[];
  /** Further Parts from other nodes, in order; they follow `own`. */
  passed: Part[];
  /** Content of other nodes that the Message lacks, or contains only as a line about it. */
  leftOut: Part[];
}

/** Event payload about content that did not reach a node. */
export interface LeftOutPayload {
  count: number;
  /** `text`, `data`, or media types of files; each once. */
  kinds: string[];
}

/** Node types that read a single text. */
const TEXT_ALONE = new Set(['conversation', 'brainstorm', 'tool']);
/**
 * Number of times that a Task stores a Message which its agent repeats, with a margin: as the Message, as an Artifact
 * and in its final status.
 */
export const ECHOES_IN_A_TASK = 4;
/** Number of kinds in an event. */
const MOST_KINDS = 20;

/**
 * Splits the result of a node into its text and the rest.
 * @param node the id of the node
 * @param mayBeData true if data count as the text if there is none
 */
export function saidContent(node: string, artifacts: readonly Artifact[], mayBeData: boolean): SaidContent {
  const [first, ...further] = artifacts;
  if (first === undefined) return { text: '', rest: [] };
  const others = further.flatMap((artifact) => markTexts(node, artifact, spokenParts(artifact.parts)));
  const text = joinedText(first.parts) ?? '';
  const dataAt = text === '' && mayBeData ? first.parts.findIndex(({ data }) => data !== undefined) : -1;
  const { start, end } = firstTextRow(first.parts);
  const isSaid = (index: number): boolean => (index >= start && index < end) || index === dataAt;
  const unsaid = markTexts(node, first, spokenParts(first.parts.filter((_, index) => !isSaid(index))));
  const said = dataAt < 0 ? text : JSON.stringify(first.parts[dataAt]?.data);
  return { text: said, rest: [...unsaid, ...others] };
}

/**
 * Returns the Parts of several Artifacts as those of a single one. Texts of further Artifacts are marked, because they
 * do not belong to the text of the first.
 */
export function asOneArtifact(node: string, artifacts: readonly Artifact[]): Part[] {
  const [first, ...further] = artifacts;
  return [...(first?.parts ?? []), ...further.flatMap((artifact) => markTexts(node, artifact, artifact.parts))];
}

/**
 * Returns content that a reference in a prompt does not cover: the files, which go with the prompt, and what is left
 * out.
 * @param withData true if the prompt names the node's data as well
 */
function unsaidByReference(
  node: string,
  artifacts: readonly Artifact[],
  withData: boolean,
): { files: Part[]; leftOut: Part[] } {
  const { rest } = saidContent(node, artifacts, true);
  const named = withData ? firstData(artifacts[0]?.parts ?? []) : undefined;
  const files = rest.filter(isFilePart);
  return { files, leftOut: rest.filter((part) => !isFilePart(part) && (named === undefined || part.data !== named)) };
}

/**
 * Builds the Message to a node. Types that read only texts get other content as texts.
 * @param given Parts from the definition of the node beside its text
 */
function contentFor(type: string, { text, rest }: SaidContent, given: readonly Part[] = []): NodeContent {
  if (TEXT_ALONE.has(type)) {
    const words = text === '' ? rest.map((part) => partAsText(part).text ?? '').join('\n\n') : text;
    return { own: [textPart(words), ...given], passed: [], leftOut: text === '' ? rest.filter(isFilePart) : rest };
  }
  const passed = type === 'workflow' ? rest.map(partAsText) : rest;
  const words = text === '' && passed.length > 0 ? [] : [textPart(text)];
  return { own: [...words, ...given], passed, leftOut: type === 'workflow' ? rest.filter(isFilePart) : [] };
}

/** Returns all Parts of a Message to a node. */
export function messageParts({ own, passed }: NodeContent): Part[] {
  return [...own, ...passed];
}

/**
 * Replaces Parts that exceed the room by a line about each.
 * @param room characters that the whole Message may have
 */
export function fittedInto(room: number, content: NodeContent): NodeContent & { length: number } {
  let left = room - lengthOf(content.own);
  const leftOut = [...content.leftOut];
  let length = 0;
  const passed = content.passed.map((part) => {
    const own = lengthOf([part]);
    if (own > left) {
      leftOut.push(part);
      return partAsLine(part);
    }
    left -= own;
    length += own;
    return part;
  });
  return { own: content.own, passed, leftOut, length };
}

/** Returns the event payload for Parts that were left out; `undefined` for none. */
export function leftOutPayload(parts: readonly Part[]): LeftOutPayload | undefined {
  if (parts.length === 0) return undefined;
  return { count: parts.length, kinds: [...new Set(parts.map(partKind))].toSorted().slice(0, MOST_KINDS) };
}

/** Returns the event payload for Parts of an answer that cannot be read; `undefined` for none. */
export function unreadPayload({
  artifacts,
  reply,
  status,
}: Pick<CalledTask, 'artifacts' | 'reply' | 'status'>): LeftOutPayload | undefined {
  const kinds = [...artifacts, reply, status?.message].flatMap((it) => {
    const unread = it?.metadata?.[UNREAD_PARTS];
    return Array.isArray(unread) ? unread.filter((it) => typeof it === 'string') : [];
  });
  if (kinds.length === 0) return undefined;
  const named = [...new Set(kinds.map((kind) => briefText(kind)))].toSorted();
  return { count: kinds.length, kinds: named.slice(0, MOST_KINDS) };
}

/** Adds the Artifact's name to the metadata of its texts. */
function markTexts(node: string, { artifactId }: Artifact, parts: readonly Part[]): Part[] {
  const of = `${node}/${artifactId}`;
  return parts.map((part) =>
    part.text === undefined ? part : { ...part, metadata: { ...part.metadata, [PART_OF]: of } },
  );
}

/** Returns the approximate number of characters of Parts as JSON. */
function lengthOf(parts: readonly Part[]): number {
  const members = parts.map(({ filename = '', mediaType = '', metadata }) => {
    return filename.length + mediaType.length + (metadata ? JSON.stringify(metadata).length : 0);
  });
  return contentLength(parts) + members.reduce((sum, length) => sum + length, 0);
}

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
