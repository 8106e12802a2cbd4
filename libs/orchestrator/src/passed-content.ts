import type { CalledTask } from '#libs/a2a-client';
import {
  type Artifact,
  briefText,
  contentLength,
  firstData,
  firstTextRow,
  isFilePart,
  joinedText,
  PART_OF,
  type Part,
  partAsLine,
  partAsText,
  partKind,
  spokenParts,
  textPart,
  UNREAD_PARTS,
} from '#libs/protocol';

/** Result of a node as the next node receives it. */
export interface SaidContent {
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
export function unsaidByReference(
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
export function contentFor(type: string, { text, rest }: SaidContent, given: readonly Part[] = []): NodeContent {
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
