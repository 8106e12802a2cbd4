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

/** Result of a node in the form that the next node receives: one text, and further Parts. */
interface SaidContent {
  text: string;
  /** Content beyond `text`, in order: data, files, further texts, and the Parts of further Artifacts. */
  rest: Part[];
}

/** Node types whose Message has a single text, without Parts from other nodes. */
const TEXT_ALONE = new Set(['conversation', 'brainstorm', 'tool']);
/**
 * Number of copies of a Message that a Task may store if its agent repeats the Message: the Message itself, an Artifact
 * and the final status, and one more as a margin.
 */
export const ECHOES_IN_A_TASK = 4;
/**
 * Splits the result of a node into its text and the remaining Parts.
 * @param node id or instance name of the node, for the metadata of marked texts
 * @param mayBeData true if data, as JSON, replace a missing text
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
 * Merges Artifacts: returns the Parts of all of them for a single Artifact. Texts of the second and later Artifacts are
 * marked with their Artifact's name, because they do not belong to the text of the first Artifact.
 */
export function asOneArtifact(node: string, artifacts: readonly Artifact[]): Part[] {
  const [first, ...further] = artifacts;
  return [...(first?.parts ?? []), ...further.flatMap((artifact) => markTexts(node, artifact, artifact.parts))];
}

/**
 * Returns the content of a node's result that a `{{reference}}` to the node in a prompt does not insert. `files` are
 * sent beside the prompt; `leftOut` has the other Parts, which are not sent.
 * @param withData true if the prompt also refers to the node's data
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
 * Builds the content of a Message to a node.
 * - For a type that takes a single text (TEXT_ALONE), all other Parts are left out. If there is no text, the other
 *   Parts are converted to a text, and only the files count as left out.
 * - For a `workflow` node, data are converted to texts.
 * @param given data or arguments from the definition of the node
 */
function contentFor(type: string, { text, rest }: SaidContent, given: readonly Part[] = []): NodeContent {
  if (TEXT_ALONE.has(type)) {
    const words = text === '' ? rest.map((part) => partAsText(part).text ?? '').join('\n\n') : text;
    return { own: [textPart(words), ...given], passed: [], leftOut: text === '' ? rest.filter(isFilePart) : rest };
  }
  // Data would be the inputs of the workflow, by the names of its members.
  const passed = type === 'workflow' ? rest.map((part) => (isFilePart(part) ? part : partAsText(part))) : rest;
  const words = text === '' && passed.length > 0 ? [] : [textPart(text)];
  return { own: [...words, ...given], passed, leftOut: [] };
}

/** Returns all Parts of a Message to a node. */
export function messageParts({ own, passed }: NodeContent): Part[] {
  return [...own, ...passed];
}

/** Adds the name of an Artifact to the metadata of each text among its Parts. */
function markTexts(node: string, { artifactId }: Artifact, parts: readonly Part[]): Part[] {
  const of = `${node}/${artifactId}`;
  return parts.map((part) =>
    part.text === undefined ? part : { ...part, metadata: { ...part.metadata, [PART_OF]: of } },
  );
}

/** State of a run as one node sees it: everything needed to build the Message to that node. */
export interface MessageSource {
  inputs: JsonObject;
  nodes: Pick<ReadonlyMap<string, NodeInstance>, 'get'>;
  /** Text of the caller's Message; absent if the workflow has `input` nodes, which receive that text. */
  text?: string;
  /** Text Parts of the caller's Message; `text` joins them. Absent if `text` is. */
  said?: readonly Part[];
  /**
   * Content of the Message that began the run, beside its text. It is for `input` nodes, or for the first nodes if the
   * workflow has no `input` node.
   */
  content?: readonly Part[];
  /** True if the node was reached over an incoming edge. If the function is absent, every incoming edge counts. */
  isReachedBy?(edge: GraphEdge): boolean;
  /**
   * Further content for a node without a prompt, from the previous iteration of its loop: texts, or instances with
   * results.
   */
  repeated?: readonly (string | NodeInstance)[];
  /**
   * True if a node was skipped or canceled, so that a reference to it becomes an empty text. If the function is absent,
   * the reference stays as written.
   */
  leavesOut?(id: string): boolean;
  /** Text that replaces all texts and data of the Message, because a rerun edits it; absent for any other Message. */
  edited?: string;
  /** CEL expressions and variables for `${…}` in texts; absent unless the workflow has `language: 2`. */
  language?: FillingSource['language'];
}

/**
 * Returns the content of the Message that calls a node: its text, data or arguments, and the remaining results of its
 * predecessors. `RunContent` limits the size of that content.
 * - A `workflow` node with inputs is sent only its inputs.
 * - A node that works on a text, but would be sent no text, data or file, is sent `Execute node <id>`.
 * - A Message that a rerun edits has the edited text, and the files.
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
  const content = withCallerTexts(node, graph, run, contentFor(node.type, { text, rest }, own));
  if (run.edited !== undefined)
    return { own: [textPart(run.edited)], passed: messageParts(content).filter(isFilePart), leftOut: [] };
  return { ...withOrder(node, content), leftOut: [...leftOut, ...content.leftOut] };
}

/**
 * Replaces the text of the content by the text Parts of the caller, so that their metadata are kept. Applies only to a
 * node without a prompt that calls a remote agent and has no node before it; any other content is returned unchanged.
 */
function withCallerTexts(
  { id, type, config }: WorkflowNode,
  graph: WorkflowGraph,
  { text, said = [] }: MessageSource,
  content: NodeContent,
): NodeContent {
  const [first, ...others] = content.own;
  const isCallers = type === 'external' && !config['prompt'] && graph.incoming(id).length === 0 && first?.text === text;
  if (!isCallers || !text) return content;
  return { ...content, own: [...said.map((part) => ({ mediaType: 'text/plain', ...part })), ...others] };
}

/** Replaces empty content by the text `Execute node <id>`, for node types that need a text. */
function withOrder({ id, type }: WorkflowNode, content: NodeContent): NodeContent {
  const isSilent = content.passed.length === 0 && content.own.every(({ text }) => text?.trim() === '');
  if (!isSilent || !isOrdered(type)) return content;
  return { ...content, own: [textPart(`Execute node ${id}`)] };
}

function ownData(node: WorkflowNode, data: JsonValue | undefined, filling: NodeFilling): Part[] {
  const takesData = data !== undefined && templateValues(node).some(({ path }) => path === 'config.data');
  return takesData ? [dataPart(filling.fillValue('config.data', data))] : [];
}

/** Creates the `NodeFilling` that fills the templates of a node. */
export function nodeFilling(node: WorkflowNode, run: MessageSource, budget = new TextBudget()): NodeFilling {
  const { language } = run;
  return new NodeFilling(node.id, { resolve: templateResolver(run), ...(language && { language }) }, budget);
}

/**
 * Returns the function that resolves `{{references}}`. If a run has an input with the id of a node, the id means the
 * input, even if that node has a result.
 */
function templateResolver(run: MessageSource): TemplateResolver {
  return (id, suffix) => {
    const input = referredInput(run, id);
    const artifact = input === undefined ? run.nodes.get(id)?.artifacts[0] : inputArtifact(input);
    return artifactReference(artifact, suffix) ?? (isEmptied(run, id) ? '' : undefined);
  };
}

/** True if a `{{reference}}` resolves to a value. The value itself is not built. */
export function standsForSomething(run: MessageSource, id: string, suffix: readonly string[]): boolean {
  const wantsData = suffix.length === 1 && suffix[0] === 'data';
  if (referredInput(run, id) !== undefined) return !wantsData;
  const artifact = run.nodes.get(id)?.artifacts[0];
  if (artifact === undefined) return false;
  return !wantsData || firstData(artifact.parts) !== undefined;
}

/**
 * True if an unresolved `{{reference}}` to this node is replaced by an empty text. Otherwise its text stays unchanged.
 */
export function isEmptied(run: MessageSource, id: string): boolean {
  return run.leavesOut?.(id) ?? false;
}

function referredInput({ inputs }: MessageSource, id: string): JsonValue | undefined {
  return inputValue(inputs, id) ?? inputValue(inputs, userInputNode(id) ?? '');
}

/**
 * Returns the content of the Message to a node.
 * - With a prompt: the filled prompt, the files of the nodes that the prompt refers to, and the content of the caller
 *   if no node comes before this one.
 * - Without a prompt: the results of the node's predecessors.
 */
function saidTo(
  node: WorkflowNode,
  graph: WorkflowGraph,
  run: MessageSource,
  filling: NodeFilling,
): SaidContent & { leftOut: Part[] } {
  if (node.type === 'input') {
    const input = inputValue(run.inputs, node.id);
    return { text: input === undefined ? '' : inputText(input), rest: [...(run.content ?? [])], leftOut: [] };
  }
  const key = templateKey(node.type);
  const prompt = node.config[key];
  const incoming = graph.incoming(node.id);
  if (typeof prompt === 'string' && prompt !== '') {
    const { rest, leftOut } = besidePrompt(prompt, run);
    const begun = incoming.length === 0 ? (run.content ?? []) : [];
    return { text: filling.fillText(`config.${key}`, prompt), rest: [...begun, ...rest], leftOut };
  }
  const taken = incoming.filter((edge) => run.isReachedBy?.(edge) ?? true);
  const before = [...new Set(taken.map(({ from }) => from))].map((id) => saidBy(graph.node(id), run));
  const repeated = (run.repeated ?? []).map((it) =>
    typeof it === 'string' ? { text: it, rest: [] } : contentSaid(graph.node(it.id), it),
  );
  const all = [
    ...(incoming.length === 0 ? [{ text: run.text ?? '', rest: [...(run.content ?? [])] }] : before),
    ...repeated,
  ];
  for (const { text } of all) filling.texts.spendCharacters(text.length + SEPARATOR.length);
  const texts = all.flatMap(({ text }) => (text === '' ? [] : [text]));
  return { text: texts.join(SEPARATOR), rest: all.flatMap(({ rest }) => rest), leftOut: [] };
}

/** Returns the files of the nodes that a prompt refers to, and the other content of these nodes, which is left out. */
function besidePrompt(prompt: string, run: MessageSource): { rest: Part[]; leftOut: Part[] } {
  const named = new Map<string, Set<'text' | 'data'>>();
  for (const { id, suffix } of templateReferences(prompt)) {
    const member = suffix.length === 1 && suffix[0] === 'data' ? 'data' : 'text';
    named.set(id, (named.get(id) ?? new Set()).add(member));
  }
  const unsaid = [...named].flatMap(([id, members]) => {
    const artifacts = referredInput(run, id) === undefined ? run.nodes.get(id)?.artifacts : undefined;
    // A prompt that refers only to data needs no files.
    if (artifacts === undefined || !members.has('text')) return [];
    return [unsaidByReference(id, artifacts, members.has('data'))];
  });
  // An expression in the prompt may use the remaining content.
  const isExpressive = run.language !== undefined && prompt.includes('${');
  const leftOut = isExpressive ? [] : unsaid.flatMap((it) => it.leftOut);
  return { rest: unsaid.flatMap(({ files }) => files), leftOut };
}

const SEPARATOR = '\n\n';

/**
 * Node types whose data replace a missing text only in the cases that `mayBeData` names. For all other types, including
 * those of plugins, the data are the text of a result that has no text.
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

/**
 * True if the data of a node's result, as JSON, replace a missing text: for every type that is not in `TEXT_TYPES`, for
 * a list, for a node with an output schema, and for a `fallback`.
 */
function mayBeData({ type, each, output, config }: WorkflowNode, { fallback }: NodeInstance): boolean {
  if (each !== undefined || output !== undefined || !TEXT_TYPES.has(type)) return true;
  return fallback === true || (type === 'agent' && config['output'] !== undefined);
}

function inputArtifact(value: JsonValue): Artifact {
  return { artifactId: '', parts: [textPart(inputText(value))] };
}

/** Content of a Message to a node. */
export interface NodeContent {
  /** Parts with the node's text and with the data or arguments from its definition. */
  own: Part[];
  /** Further Parts from the results of other nodes, in order. In the Message they follow `own`. */
  passed: Part[];
  /** Parts from the results of other nodes that the Message lacks, or that a line of text replaces. */
  leftOut: Part[];
}

/** Payload of the `parts.left-out` event: a summary of the Parts that were not passed on to a node. */
export interface LeftOutPayload {
  count: number;
  /** Kinds of the Parts, each once: `text`, `data`, or the media type of a file. */
  kinds: string[];
}

/** Maximum number of kinds in `LeftOutPayload`. */
const MOST_KINDS = 20;

/**
 * Limits the size of a Message: replaces each Part of `passed` that no longer fits by a line about that Part. `own` is
 * never changed.
 * @param room maximum number of characters of the whole Message
 * @returns the content, and the number of characters of the Parts that stay in `passed`
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

/** Returns the approximate number of characters of Parts as JSON. */
function lengthOf(parts: readonly Part[]): number {
  const members = parts.map(({ filename = '', mediaType = '', metadata }) => {
    return filename.length + mediaType.length + (metadata ? JSON.stringify(metadata).length : 0);
  });
  return contentLength(parts) + members.reduce((sum, length) => sum + length, 0);
}

/** Returns the payload of `parts.left-out` for Parts that were left out; `undefined` if there are none. */
export function leftOutPayload(parts: readonly Part[]): LeftOutPayload | undefined {
  if (parts.length === 0) return undefined;
  return { count: parts.length, kinds: [...new Set(parts.map(partKind))].toSorted().slice(0, MOST_KINDS) };
}

/**
 * Returns the payload of `parts.left-out` for Parts of an agent's answer that cannot be read; `undefined` if there are
 * none.
 */
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
