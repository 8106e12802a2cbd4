import {
  A2AError,
  type FieldViolation,
  isFilePart,
  type Part,
  partAsText,
  type SendMessageRequest,
} from '#libs/protocol';

/** Media types that an agent reads and writes. An empty list allows any. */
export interface AgentModes {
  inputModes: readonly string[];
  outputModes: readonly string[];
}

/**
 * Rejects a Message with a Part that the agent cannot read, or whose caller accepts none of the agent's output modes
 * (section 3.1.1). An agent with a text input mode reads text Parts of every `text/*`. A Part without a media type has
 * the default media type for its content.
 * @throws A2AError CONTENT_TYPE_NOT_SUPPORTED
 */
export function checkMediaTypes(agent: AgentModes, request: SendMessageRequest): void {
  const [unread] = unreadParts(agent, request.message.parts);
  if (unread) throw unsupportedType(`message.${unread.field}`, unread.description);
  const accepted = request.configuration?.acceptedOutputModes;
  if (!accepted || accepted.length === 0 || agent.outputModes.length === 0) return;
  if (accepted.some((mode) => matchesAny(mode, agent.outputModes))) return;
  throw unsupportedType(
    'configuration.acceptedOutputModes',
    `names none of the agent's output modes: ${agent.outputModes.join(', ')}`,
  );
}

/** Returns a violation for each Part that the agent cannot read, with the Part's field: `parts[1].mediaType`. */
export function unreadParts(agent: Pick<AgentModes, 'inputModes'>, parts: readonly Part[]): FieldViolation[] {
  const { inputModes } = agent;
  if (inputModes.length === 0) return [];
  const description = `must be one of the agent's input modes: ${inputModes.join(', ')}`;
  return parts.flatMap((part, index) =>
    isRead(agent, part) ? [] : [{ field: `parts[${index}].mediaType`, description }],
  );
}

/**
 * Replaces the Parts that an agent cannot read by text Parts: data by its JSON, a file by a line that names the file.
 * @returns the Parts for the agent, and in `unread` the files that were replaced
 */
export function fittedParts(
  agent: Pick<AgentModes, 'inputModes'>,
  parts: readonly Part[],
): { parts: Part[]; unread: Part[] } {
  if (agent.inputModes.length === 0) return { parts: [...parts], unread: [] };
  const isUnread = (part: Part): boolean => part.text === undefined && !isRead(agent, part);
  return {
    parts: parts.map((part) => (isUnread(part) ? partAsText(part) : part)),
    unread: parts.filter((part) => isUnread(part) && isFilePart(part)),
  };
}

/** True if the agent reads text Parts without a media type. */
export function readsText({ inputModes }: Pick<AgentModes, 'inputModes'>): boolean {
  return inputModes.length === 0 || matchesAny('text/*', inputModes);
}

function isRead(agent: Pick<AgentModes, 'inputModes'>, part: Part): boolean {
  const mediaType = part.mediaType || kindOf(part);
  if (matchesAny(mediaType, agent.inputModes)) return true;
  return part.text !== undefined && matchesType(mediaType, 'text/*') && readsText(agent);
}

/**
 * Returns the media type that applies to a Part without one: `text/plain`, `application/json` for data, or
 * `application/octet-stream` for a file.
 */
function kindOf({ text, data }: Part): string {
  if (text !== undefined) return 'text/plain';
  return data === undefined ? 'application/octet-stream' : 'application/json';
}

function unsupportedType(field: string, description: string): A2AError {
  return new A2AError('CONTENT_TYPE_NOT_SUPPORTED', {
    message: `Content type not supported: ${field} ${description}`,
    violations: [{ field, description }],
  });
}

function matchesAny(mode: string, modes: readonly string[]): boolean {
  return modes.some((it) => matchesType(mode, it));
}

/** True if two media types or ranges overlap. Parameters such as `charset` are ignored. */
function matchesType(one: string, other: string): boolean {
  if (one === other) return true;
  const [type, subtype] = parseMediaType(one);
  const [otherType, otherSubtype] = parseMediaType(other);
  const meetsPart = (a: string, b: string): boolean => a === b || a === '*' || b === '*';
  return meetsPart(type, otherType) && meetsPart(subtype, otherSubtype);
}

function parseMediaType(mode: string): [string, string] {
  const [type = '', subtype = '*'] = (mode.split(';', 1)[0] ?? '').trim().toLowerCase().split('/');
  return [type, subtype];
}
