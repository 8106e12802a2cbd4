import type { SuggestedWord, SuggestedWords } from '../code/code.js';
import type { Draft } from './draft.js';
import { findEarlierNodes } from './earlier-nodes.js';

/** Heading of the suggested nodes that have not run yet when a text or an expression is evaluated. */
export const LATER = 'Not run before this';

const NODE_MEMBERS = ['status', 'text', 'data', 'artifacts', 'error', 'attempts', 'loop'];
const ERROR_MEMBERS = ['kind', 'message', 'node', 'instance'];
const RUN_MEMBERS = ['id', 'workflow', 'revision', 'contextId', 'startedAt', 'conversation'];
const VARIABLES = ['nodes', 'inputs', 'item', 'index', 'iteration', 'error', 'run'];
const FUNCTIONS = ['size', 'has', 'get', 'parseJson', 'matches', 'timestamp', 'duration', 'string', 'int', 'double'];
const NAMES = [...VARIABLES, ...FUNCTIONS];
const TYPED = /(?:^|[^\w.'"])((?:[A-Za-z_]\w*\.)*)(\w*)$/;
/** Maximum number of characters before the caret that are read for a path. */
const LONGEST_PATH = 1000;

/**
 * Returns the names that can follow at the caret of an expression; `undefined` if there are none.
 * @param path path of the expression in the draft: `edges[3].when`
 * @param explicit true to return names even if no letter of a name is typed yet
 */
export function wordsAt(
  text: string,
  caret: number,
  draft: Draft,
  path: string,
  explicit = false,
): SuggestedWords | undefined {
  const [, before = '', typed = ''] = TYPED.exec(text.slice(Math.max(0, caret - LONGEST_PATH), caret)) ?? [];
  if (before === '' && typed === '' && !explicit) return undefined;
  const words = namesAfter(before, draft, path).filter(({ label }) => label.startsWith(typed) && label !== typed);
  const rest = /^\w*/.exec(text.slice(caret, caret + LONGEST_PATH))?.[0].length ?? 0;
  return words.length > 0 ? { from: caret - typed.length, to: caret + rest, words, apart: LATER } : undefined;
}

/**
 * Returns the words for nodes: first those that run before a place in the draft, then the others, marked as `apart`.
 */
export function sortByOrder(ids: readonly string[], isEarlier: (id: string) => boolean): SuggestedWord[] {
  const [earlier, later] = [true, false].map((is) => ids.filter((id) => isEarlier(id) === is));
  return [...(earlier ?? []).map((label) => ({ label })), ...(later ?? []).map((label) => ({ label, apart: true }))];
}

function namesAfter(before: string, draft: Draft, path: string): SuggestedWord[] {
  const [first, second, ...more] = before.split('.').slice(0, -1);
  if (first === undefined) return toWords(NAMES);
  if (more.length > 0) return [];
  if (first === 'nodes') return second === undefined ? listNodes(draft, path) : toWords(NODE_MEMBERS);
  if (second !== undefined) return [];
  if (first === 'inputs') return toWords(listPlainIds(draft.nodes.filter(({ type }) => type === 'input')));
  if (first === 'run') return toWords(RUN_MEMBERS);
  return first === 'error' ? toWords(ERROR_MEMBERS) : [];
}

function listNodes(draft: Draft, path: string): SuggestedWord[] {
  const earlier = findEarlierNodes(draft, path);
  return sortByOrder(listPlainIds(draft.nodes), (id) => earlier.has(id));
}

function toWords(labels: readonly string[]): SuggestedWord[] {
  return labels.map((label) => ({ label }));
}

/** Returns the node ids that an expression can contain without quotes. */
function listPlainIds(nodes: readonly { id: string }[]): string[] {
  return nodes.map(({ id }) => id).filter((id) => /^[A-Za-z_]\w*$/.test(id));
}
