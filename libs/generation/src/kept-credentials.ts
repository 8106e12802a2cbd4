import { isDeepStrictEqual } from 'node:util';
import { agentToolEntries } from '#libs/agents';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, redactedUrl, textStart } from '#libs/protocol';

/** Members that name credentials, in the config of a node or in the entry of an agent. */
const NAMING: ReadonlySet<string> = new Set(['auth', 'credential_ref']);
/** Members of a config whose entries are agents. */
const LISTS = ['agents', 'tools'];
/** Members of a config whose values may name credentials at any depth. */
const INNER: ReadonlySet<string> = new Set([...LISTS, 'llmConfig', 'body']);

/** Returns the members of a value that name credentials; members at deeper levels are not searched. */
function namesIn(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? pickMembers(value, (key) => NAMING.has(key)) : {};
}

/** True if a member of the value names a credential; members at deeper levels are not searched. */
function hasNames(value: JsonValue | undefined): boolean {
  return Object.keys(namesIn(value)).length > 0;
}

/** True if a value names a credential, at any depth. */
export function hasInnerNames(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return hasNames(value) || Object.values(value).some(hasInnerNames);
}

/** Returns an object without its members that name credentials. Names at deeper levels are kept. */
export function withoutNames<T extends JsonValue>(value: T): T | JsonObject {
  return isJsonObject(value) ? pickMembers(value, (key) => !NAMING.has(key)) : value;
}

/** Returns a value without the names of credentials, at any depth. */
export function withoutInnerNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutInnerNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(withoutNames(value)).map(([key, it]) => [key, withoutInnerNames(it)]));
}

/**
 * Returns a config without the names of the credentials of its node, its agents and its models. An inner workflow
 * (`body`) is returned unchanged.
 */
export function withoutCredentials(config: JsonValue): JsonValue {
  if (!isJsonObject(config)) return withoutInnerNames(config);
  const visible = Object.entries(config).flatMap(([key, value]): [string, JsonValue][] => {
    if (NAMING.has(key)) return [];
    if (LISTS.includes(key) && Array.isArray(value)) return [[key, value.map((it) => withoutNames(it))]];
    const isWhole = key === 'body' && isJsonObject(value);
    return [[key, isWhole || !INNER.has(key) ? value : withoutInnerNames(value)]];
  });
  return Object.fromEntries(visible);
}

function pickMembers(value: JsonObject, isPicked: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => isPicked(key)));
}

/**
 * Members of the config of a `conversation` node that name agents. The member `auth` has their credentials under the
 * same names.
 */
const PARTIES = ['requester', 'target', 'announce'];
/** Maximum number of characters of an agent's name in a warning. */
const LONGEST_AGENT = 200;

/** Credential that a changed config lost. */
interface LostCredential {
  /** Path in the config; `''` for the config itself. */
  member: string;
  /** Text of the warning after the words "the credential". */
  detail: string;
}

/** Members of a changed config with restored credentials, and the credentials that it lost. */
export interface KeptCredentials {
  members: JsonObject;
  lost: LostCredential[];
}

/** Type and config of a node. */
export interface CallingNode {
  type: string;
  config: JsonObject;
}

/**
 * Restores the credentials of a node after a model has rewritten the node's config. A credential stays with the agent
 * that had it `before`, and is never given to another agent.
 */
export function keptCredentials(before: CallingNode, { type, config: after }: CallingNode): KeptCredentials {
  const { config } = before;
  if (type !== before.type) return leftOut(config, 'the node has another type now');
  if (type === 'external') return endpointCredentials(config, after);
  if (type === 'conversation') return partyCredentials(config, after);
  if (type === 'brainstorm') return listedCredentials('agents', config, after);
  if (type === 'agent') return listedCredentials('tools', config, after);
  return leftOut(config, 'the node has changed');
}

function leftOut(config: JsonObject, reason: string): KeptCredentials {
  const isWithout = isDeepStrictEqual(withoutCredentials(config), config);
  return { members: {}, lost: isWithout ? [] : [{ member: '', detail: `is left out, because ${reason}` }] };
}

function endpointCredentials(before: JsonObject, after: JsonObject): KeptCredentials {
  const { endpoint_url: agent } = before;
  if (!hasNames(before) || typeof agent !== 'string') return { members: {}, lost: [] };
  if (after['endpoint_url'] === agent) return { members: namesIn(before), lost: [] };
  return { members: {}, lost: [describeLoss('auth', agent, 'endpoint_url names another agent now')] };
}

function partyCredentials({ auth, ...before }: JsonObject, after: JsonObject): KeptCredentials {
  if (!isJsonObject(auth)) return { members: {}, lost: [] };
  const named = PARTIES.filter((party) => auth[party] !== undefined && typeof after[party] === 'string');
  const same = named.filter((party) => after[party] === before[party]);
  const kept = same.map((party) => [party, auth[party] as JsonValue] as const);
  const lost = named
    .filter((party) => !same.includes(party))
    .map((party) => describeLoss(`auth.${party}`, before[party], `${party} names another agent now`));
  if (same.length === 0) return { members: {}, lost };
  return {
    members: { auth: { ...(isJsonObject(after['auth']) && after['auth']), ...Object.fromEntries(kept) } },
    lost,
  };
}

/** Restores the credentials of the agents in a list of a config (`agents` or `tools`). */
function listedCredentials(list: string, before: JsonObject, after: JsonObject): KeptCredentials {
  const [known, written] = [before[list], after[list]];
  if (!Array.isArray(known) || !Array.isArray(written)) return { members: {}, lost: [] };
  const agents = KnownAgents.fromList(known);
  if (!agents.haveNames) return { members: {}, lost: [] };
  const found = written.map((entry, index) => agents.entryWith(entry, index));
  const unclear = found.flatMap(({ entry, source }, index) =>
    source === 'unclear' ? [describeLoss(`${list}[${index}]`, entryAgent(entry), `${list} had it more than once`)] : [],
  );
  const called = new Set(written.map(entryAgent));
  const gone = known.filter((it) => hasNames(it) && !called.has(entryAgent(it)));
  const replaced = found.some(({ source }) => source === 'new') ? gone : [];
  const left = replaced.map((it) => describeLoss(list, entryAgent(it), `${list} has another agent now`));
  return { members: { [list]: found.map(({ entry }) => entry) }, lost: [...unclear, ...left] };
}

/**
 * Entry of a changed list with its restored credentials. `source` is the result of the search for the entry's agent in
 * the previous list:
 * - `known`: the agent was found, and its credentials are restored.
 * - `unclear`: the agent was found several times with different credentials, so none is restored.
 * - `new`: the agent was not found.
 * - absent: the entry is not an agent.
 */
interface FoundEntry {
  entry: JsonValue;
  source?: 'known' | 'unclear' | 'new';
}

/** First of several entries with the same key. `isClear` is true if all of them name the same credentials. */
interface AlikeEntries {
  first: JsonValue;
  isClear: boolean;
}

/** Index of the agents in a list by the keys of `likenessesOf`, as a list may have tens of thousands of entries. */
class KnownAgents {
  private static readonly kept = new WeakMap<readonly JsonValue[], KnownAgents>();
  readonly haveNames: boolean;
  /** Keys of the entry at each position of the list. */
  private readonly places: readonly (readonly string[])[];
  private readonly alike = new Map<string, AlikeEntries>();

  private constructor(private readonly known: readonly JsonValue[]) {
    this.haveNames = known.some(hasNames);
    this.places = this.haveNames ? known.map(likenessesOf) : [];
    for (const [index, likenesses] of this.places.entries())
      for (const likeness of likenesses) this.add(likeness, known[index]!);
  }

  static fromList(known: readonly JsonValue[]): KnownAgents {
    const kept = this.kept.get(known) ?? new KnownAgents(known);
    this.kept.set(known, kept);
    return kept;
  }

  /**
   * Returns an entry with the credentials of the same agent in the previous list.
   * - The match is an entry that is equal except for credentials, else one with the same agent and name, else one with
   *   the same agent.
   * - Of several matches, the match at the same position counts.
   * - If no match is at the same position, and the matches have different credentials, the result is `unclear`.
   */
  entryWith(entry: JsonValue, index: number): FoundEntry {
    const likenesses = likenessesOf(entry);
    if (likenesses.length === 0) return { entry };
    const likeness = likenesses.find((it) => this.alike.has(it));
    const alike = likeness === undefined ? undefined : this.alike.get(likeness);
    if (likeness === undefined || !alike) return { entry, source: 'new' };
    const isThere = this.places[index]?.includes(likeness) === true;
    if (!isThere && !alike.isClear) return { entry, source: 'unclear' };
    const source = isThere ? this.known[index]! : alike.first;
    if (!hasNames(source)) return { entry, source: 'known' };
    const plain = isJsonObject(entry) ? withoutNames(entry) : { agent: entryAgent(entry)! };
    return { entry: { ...plain, ...namesIn(source) }, source: 'known' };
  }

  private add(likeness: string, entry: JsonValue): void {
    const alike = this.alike.get(likeness);
    if (!alike) this.alike.set(likeness, { first: entry, isClear: true });
    else alike.isClear &&= isDeepStrictEqual(namesIn(entry), namesIn(alike.first));
  }
}

/**
 * Returns the keys that match an entry with other entries, strictest first: all members, agent and name, agent. Returns
 * no key if the entry is not an agent.
 */
function likenessesOf(entry: JsonValue): string[] {
  const agent = entryAgent(entry);
  if (agent === undefined) return [];
  const name = entryName(entry);
  return [
    ['all', agent, withoutNames(entry)],
    ['name', agent, ...(name === undefined ? [] : [name])],
    ['agent', agent],
  ].map((it) => canonicalJson(it));
}

function entryAgent(entry: JsonValue): string | undefined {
  return agentToolEntries([entry])[0]?.reference;
}

function entryName(entry: JsonValue): JsonValue | undefined {
  return isJsonObject(entry) ? entry['name'] : undefined;
}

function describeLoss(member: string, agent: JsonValue | undefined, reason: string): LostCredential {
  const text = typeof agent === 'string' ? agent : 'an agent';
  const shown = /^https?:/i.test(text) ? redactedUrl(text) : textStart(text, LONGEST_AGENT);
  return { member, detail: `for ${shown} is left out, because ${reason}` };
}
