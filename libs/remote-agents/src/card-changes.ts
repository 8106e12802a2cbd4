import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { CardContent } from './card-content.js';

/** One difference between two cards. */
export interface CardChange {
  /** A JSON Pointer (RFC 6901); skills, extensions and keys stand in it by their ids, other list items by their places. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** Whether it is about what callers rely on. */
  significant: boolean;
  /** Left out where there was nothing, or where it is long. */
  before?: JsonValue;
  after?: JsonValue;
}

/** More are not reported; what is significant is reported first. */
const MAX_CHANGES = 100;
const MAX_VALUE = 500;
const MAX_SEGMENT = 100;

/**
 * Who the agent is, where it is, what it does for whom, and who vouches for that. The rest (version, descriptions and
 * links of the whole, modes, capabilities) changes in the ordinary life of an agent.
 */
const SIGNIFICANT = new Set([
  'name',
  'supportedInterfaces',
  'provider',
  'skills',
  'securitySchemes',
  'securityRequirements',
  'security',
  'signatures',
]);

/** What the items of a list are known by, where not by their places. */
const IDS = ['id', 'uri', 'kid'];

/** What has changed from one card to another, in the order of the paths. */
export function cardChanges(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === '' || to.hash === '') return wholeChange(from, to);
  const changes = [...differences('', from.content, to.content)];
  const reported = changes.toSorted((a, b) => Number(b.significant) - Number(a.significant)).slice(0, MAX_CHANGES);
  return reported.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function isSignificant(changes: readonly CardChange[]): boolean {
  return changes.some((it) => it.significant);
}

function wholeChange(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === to.hash) return [];
  return [{ path: '', kind: to.hash === '' ? 'removed' : 'added', significant: true }];
}

function* differences(path: string, from: JsonValue | undefined, to: JsonValue | undefined): Generator<CardChange> {
  if (from === undefined && to === undefined) return;
  const [before, after] = [membersOf(from), membersOf(to)];
  if (before && after) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* differences(`${path}/${segment(name)}`, before[name], after[name]);
    }
    return;
  }
  if (from !== undefined && to !== undefined && canonicalJson(from) === canonicalJson(to)) return;
  yield change(path, from, to);
}

function change(path: string, from: JsonValue | undefined, to: JsonValue | undefined): CardChange {
  return {
    path,
    kind: from === undefined ? 'added' : to === undefined ? 'removed' : 'changed',
    significant: SIGNIFICANT.has(path.split('/')[1] ?? ''),
    ...shown('before', from),
    ...shown('after', to),
  };
}

function shown(name: 'before' | 'after', value: JsonValue | undefined): Partial<CardChange> {
  return value === undefined || JSON.stringify(value).length > MAX_VALUE ? {} : { [name]: value };
}

/** What lies below a value: an object's members, a list of objects by their ids or places; other lists are one value. */
function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (!Array.isArray(value) || !value.every(isJsonObject)) return undefined;
  const id = IDS.find((it) => value.every((item) => typeof item[it] === 'string'));
  const names = value.map((item, place) => (id === undefined ? String(place) : (item[id] as string)));
  const unique = new Set(names).size === names.length;
  return Object.fromEntries(value.map((item, place) => [unique ? names[place] : String(place), item]));
}

function segment(name: string): string {
  const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1');
  return escaped.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_SEGMENT);
}
