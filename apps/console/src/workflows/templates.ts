import type { SuggestedWords } from '../code/code.js';
import { endsInExpression } from '../code/tokens.js';
import type { Draft } from './draft.js';
import { findEarlierNodes } from './earlier-nodes.js';
import { LATER, sortByOrder, wordsAt } from './expression-words.js';

/** Pattern of `{{id}}` and `{{id.suffix}}`, as the service reads them: word characters and dots, no spaces. */
const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;
/** Pattern of an unfinished `{{reference` before the caret. */
const OPEN_REFERENCE = /\{\{(\w*)$/;
/** Maximum number of characters around the caret that are read for a reference. */
const LONGEST_REFERENCE = 200;

/** Returns the references in a text to unknown nodes, each once, with their braces. */
export function unknownReferences(text: string, ids: Iterable<string>): string[] {
  const known = new Set(ids);
  const found = [...text.matchAll(REFERENCE)].filter(([, path = '']) => !known.has(path.split('.')[0] ?? ''));
  return [...new Set(found.map(([reference]) => reference))];
}

/**
 * Returns the words at the caret of a text: references after `{{`, and in a workflow of language 2 names of expressions
 * after `${`; `undefined` if there are none.
 * @param path path of the text in the draft: `nodes[2].config.prompt`
 * @param explicit true to return all names of expressions where none is typed
 */
export function templateWordsAt(
  text: string,
  caret: number,
  draft: Draft,
  path: string,
  explicit = false,
): SuggestedWords | undefined {
  if (draft.language === 2 && endsInExpression(text.slice(0, caret)))
    return wordsAt(text, caret, draft, path, explicit);
  return referencesAt(text, caret, draft, path);
}

/**
 * Returns the references that can complete an unfinished `{{` at the caret; `undefined` if there are none. Nodes that
 * run earlier come first, together with input nodes, which have values from the beginning of a run. The node that
 * contains the text is left out, unless a loop repeats it.
 */
function referencesAt(text: string, caret: number, draft: Draft, path: string): SuggestedWords | undefined {
  const open = OPEN_REFERENCE.exec(text.slice(Math.max(0, caret - LONGEST_REFERENCE), caret));
  if (!open) return undefined;
  const typed = open[1]?.toLowerCase() ?? '';
  const earlier = findEarlierNodes(draft, path);
  const own = draft.nodes[Number(/^nodes\[(\d+)\]/.exec(path)?.[1])]?.id;
  const nodes = draft.nodes.filter(
    ({ id }) => /^\w+$/.test(id) && id.toLowerCase().startsWith(typed) && (id !== own || earlier.has(id)),
  );
  const inputs = new Set(nodes.filter(({ type }) => type === 'input').map(({ id }) => id));
  const ids = nodes.map(({ id }) => id);
  const words = sortByOrder(ids, (id) => earlier.has(id) || inputs.has(id));
  if (words.length === 0) return undefined;
  const rest = /^\w*\}{0,2}/.exec(text.slice(caret, caret + LONGEST_REFERENCE))?.[0].length ?? 0;
  return {
    from: caret - open[0].length,
    to: caret + rest,
    words: words.map((word) => ({ ...word, text: `{{${word.label}}}` })),
    apart: LATER,
  };
}
