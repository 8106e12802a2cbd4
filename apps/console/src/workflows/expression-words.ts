import type { Draft } from './draft.js';

/** What can stand where the caret is, and from where on it would stand. */
export interface WordCompletion {
  from: number;
  candidates: string[];
}

const NODE_MEMBERS = ['status', 'text', 'data', 'artifacts', 'error', 'attempts', 'loop'];
const ERROR_MEMBERS = ['kind', 'message', 'node', 'instance'];
const NAMES = ['nodes', 'inputs', 'item', 'index', 'iteration', 'error', 'run', 'size', 'has', 'get', 'parseJson'];
const TYPED = /(?:^|[^\w.'"])((?:[A-Za-z_]\w*\.)*)(\w*)$/;

/** The names that an expression may go on with at a place; those it can never mean are left out. */
export function wordsAt(text: string, caret: number, draft: Draft): WordCompletion | undefined {
  const before = text.slice(0, caret);
  const [, path = '', typed = ''] = TYPED.exec(before) ?? [];
  if (path === '' && typed === '') return undefined;
  const candidates = namesAfter(path, draft).filter((name) => name.startsWith(typed) && name !== typed);
  return candidates.length > 0 ? { from: caret - typed.length, candidates } : undefined;
}

/** The text with a word put in for what was typed of it, and where the caret is then. */
export function withWord(text: string, caret: number, from: number, word: string): { text: string; caret: number } {
  const rest = text.slice(caret).replace(/^\w*/, '');
  return { text: `${text.slice(0, from)}${word}${rest}`, caret: from + word.length };
}

function namesAfter(path: string, { nodes }: Draft): string[] {
  const [first, second, ...more] = path.split('.').slice(0, -1);
  if (first === undefined) return NAMES;
  if (more.length > 0) return [];
  if (first === 'nodes') return second === undefined ? words(nodes) : NODE_MEMBERS;
  if (second !== undefined) return [];
  if (first === 'inputs') return words(nodes.filter(({ type }) => type === 'input'));
  return first === 'error' ? ERROR_MEMBERS : [];
}

/** Ids that can be written without quotes. */
function words(nodes: readonly { id: string }[]): string[] {
  return nodes.map(({ id }) => id).filter((id) => /^[A-Za-z_]\w*$/.test(id));
}
