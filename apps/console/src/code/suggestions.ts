import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionStatus,
} from '@codemirror/autocomplete';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import { type EditorView, keymap, ViewPlugin } from '@codemirror/view';
import type { SuggestedWords, SuggestWords } from './code.js';

/** Suggests words while the person types. Enter and Tab take the chosen word, Escape closes the list. */
export function suggestWords(suggest: SuggestWords, name: string): Extension {
  const complete = ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const found = suggest(state.doc.toString(), pos, explicit);
    if (!found) return null;
    const { from, to } = found;
    // The list follows the text at once: a key that comes next must not meet the words of an earlier text.
    return {
      from,
      to,
      options: toCompletions(found),
      filter: false,
      update: (_result, _from, _to, at) => complete(at),
    };
  };
  return [
    autocompletion({
      override: [complete],
      icons: false,
      activateOnTypingDelay: 0,
      interactionDelay: 0,
      addToOptions: [{ render: ({ section }) => createHiddenText(section), position: 90 }],
    }),
    Prec.highest(keymap.of([{ key: 'Tab', run: acceptCompletion }])),
    EditorState.phrases.of({ Completions: name }),
    CLOSE_FIRST,
  ];
}

function toCompletions({ words, apart = '' }: SuggestedWords): Completion[] {
  const section = { name: apart, rank: 1 };
  return words.map(({ label, text = label, apart: isApart }) => ({
    label,
    apply: text,
    ...(isApart && { section }),
  }));
}

/** Returns the heading of a word as a text for screen readers, which do not read headings in a list of options. */
function createHiddenText(section: Completion['section']): Node | null {
  if (typeof section !== 'object') return null;
  const hidden = document.createElement('span');
  hidden.className = 'sr-only';
  hidden.textContent = section.name;
  return hidden;
}

/** Keeps an Escape that closes the list from also closing the dialog around the field. */
const CLOSE_FIRST = ViewPlugin.define((view: EditorView) => {
  const handleEscape = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !view.hasFocus || completionStatus(view.state) !== 'active') return;
    closeCompletion(view);
    event.preventDefault();
    event.stopPropagation();
  };
  // Dialogs listen at the document, before an event reaches the field.
  window.addEventListener('keydown', handleEscape, { capture: true });
  return { destroy: () => window.removeEventListener('keydown', handleEscape, { capture: true }) };
});
