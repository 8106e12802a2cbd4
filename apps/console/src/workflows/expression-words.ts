import type { Draft } from './draft.js';

/** Words that can complete an expression at the caret, and the offset at which the completed word starts. */
export interface WordCompletion {
  from: number;
  candidates: string[];
}

const NODE_MEMBERS = ['status', 'text', 'data', 'artifacts', 'error', 'attempts', 'loop'];
const ERROR_MEMBERS = ['kind', 'message', 'node', 'instance'];
const NAMES = ['nodes', 'inputs', 'item', 'index', 'iteration', 'error', 'run', 'size', 'has', 'get', 'parseJson'];
const TYPED = /(?:^|[^\w.'"])((?:[A-Za-z_]\w*\.)*)(\w*)$/;

/** Returns the names that can follow at the caret of an expression; `undefined` if there are none. */
export function wordsAt(text: string, caret: number, draft: Draft): WordCompletion | undefined {
  const before = text.slice(0, caret);
  const [, path = '', typed = ''] = TYPED.exec(before) ?? [];
  if (path === '' && typed === '') return undefined;
  const candidates = namesAfter(path, draft).filter((name) => name.startsWith(typed) && name !== typed);
  return candidates.length > 0 ? { from: caret - typed.length, candidates } : undefined;
}

/** Replaces the word at the caret, and returns the text with the new caret. */
export function withWord(text: string, caret: number, from: number, word: string): { text: string; caret: number } {
  const rest = text.slice(caret).replace(/^\w*/, '');
  return { text: `${text.slice(0, from)}${word}${rest}`, caret: from + word.length };
}

function namesAfter(path: string, { nodes }: Draft): string[] {
  const [first, second, ...more] = path.split('.').slice(0, -1);
  if (first === undefined) return NAMES;
  if (more.length > 0) return [];
  if (first === 'nodes') return second === undefined ? listPlainIds(nodes) : NODE_MEMBERS;
  if (second !== undefined) return [];
  if (first === 'inputs') return listPlainIds(nodes.filter(({ type }) => type === 'input'));
  return first === 'error' ? ERROR_MEMBERS : [];
}

/** Returns the node ids that an expression can contain without quotes. */
function listPlainIds(nodes: readonly { id: string }[]): string[] {
  return nodes.map(({ id }) => id).filter((id) => /^[A-Za-z_]\w*$/.test(id));
}
