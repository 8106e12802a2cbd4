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

/** Answer of a node as the next node gets it. */
export interface SaidContent {
  text: string;
  /** Everything that the text does not say: data, files, further texts and Artifacts, in their order. */
  rest: Part[];
}

/** The Parts of a Message to a node. */
export interface NodeContent {
  /** Its text, and the data or arguments that its definition gives it. */
  own: Part[];
  /** Further Parts that other nodes have answered, in their order; they follow. */
  passed: Part[];
  /** What other nodes have answered and is not in the Message, or only as a line about it. */
  leftOut: Part[];
}

/** Event payload about what did not reach a node. */
export interface LeftOutPayload {
  count: number;
  /** `text`, `data`, or media types of files; each once. */
  kinds: string[];
}

/** Types that read one text and nothing else. */
const TEXT_ALONE = new Set(['conversation', 'brainstorm', 'tool']);
/** A Task that repeats its Message has that this often: as the Message, as an Artifact, in its last word; and room is left. */
export const ECHOES_IN_A_TASK = 4;
/** At most so many kinds are named. */
const MOST_KINDS = 20;

/**
 * Splits what a node has answered into its text and the rest.
 * @param node the id of the node
 * @param mayBeData true if data is the text where there is no other
 */
export function saidContent(node: string, artifacts: readonly Artifact[], mayBeData: boolean): SaidContent {
  const [first, ...further] = artifacts;
  if (first === undefined) return { text: '', rest: [] };
  const others = further.flatMap((artifact) => marked(node, artifact, spokenParts(artifact.parts)));
  const text = joinedText(first.parts) ?? '';
  const dataAt = text === '' && mayBeData ? first.parts.findIndex(({ data }) => data !== undefined) : -1;
  const { start, end } = firstTextRow(first.parts);
  const isSaid = (index: number): boolean => (index >= start && index < end) || index === dataAt;
  const unsaid = marked(node, first, spokenParts(first.parts.filter((_, index) => !isSaid(index))));
  const said = dataAt < 0 ? text : JSON.stringify(first.parts[dataAt]?.data);
  return { text: said, rest: [...unsaid, ...others] };
}

/** Returns the Parts of several Artifacts as those of one; a text of a further one is no piece of the first one's text. */
export function asOneArtifact(node: string, artifacts: readonly Artifact[]): Part[] {
  const [first, ...further] = artifacts;
  return [...(first?.parts ?? []), ...further.flatMap((artifact) => marked(node, artifact, artifact.parts))];
}

/**
 * What a reference to a node in a prompt does not say: its files, which go with the prompt, and what is left out.
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
 * Makes the Message to a node of its type: types that read texts alone get the others as texts.
 * @param given Parts that the definition of the node gives it beside its text
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
export function partsOf({ own, passed }: NodeContent): Part[] {
  return [...own, ...passed];
}

/**
 * Replaces passed Parts that would be too much by a line about each.
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

/** Returns what an event says of Parts that were left out; `undefined` for none. */
export function leftOutPayload(parts: readonly Part[]): LeftOutPayload | undefined {
  if (parts.length === 0) return undefined;
  return { count: parts.length, kinds: [...new Set(parts.map(partKind))].toSorted().slice(0, MOST_KINDS) };
}

/** Returns what an event says of Parts of an answer that nobody here can read; `undefined` for none. */
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

/** Parts of an Artifact; the texts among them say which one they belong to. */
function marked(node: string, { artifactId }: Artifact, parts: readonly Part[]): Part[] {
  const of = `${node}/${artifactId}`;
  return parts.map((part) =>
    part.text === undefined ? part : { ...part, metadata: { ...part.metadata, [PART_OF]: of } },
  );
}

/** About how many characters Parts have as JSON, with all their members. */
function lengthOf(parts: readonly Part[]): number {
  const members = parts.map(({ filename = '', mediaType = '', metadata }) => {
    return filename.length + mediaType.length + (metadata ? JSON.stringify(metadata).length : 0);
  });
  return contentLength(parts) + members.reduce((sum, length) => sum + length, 0);
}
