import { type Extension, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import type { CodeMark } from './code.js';

/** Effect that replaces the marks of a text. */
export const setMarks = StateEffect.define<readonly CodeMark[]>();

const LONGEST_WORD = 200;
const WORD = /^(?:\{\{[^{}]*\}\}|\w+)/;

/** Field of the editor with the underlined marks. A mark moves with its text; `setMarks` replaces all marks. */
const MARKS = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects, state }) => {
    const set = effects.findLast((effect) => effect.is(setMarks));
    return set ? drawMarks(set.value as readonly CodeMark[], state.doc) : marks.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const UNDERLINED = { textDecorationLine: 'underline', textDecorationStyle: 'wavy', textUnderlineOffset: '3px' };

/** Underlines problems in a text. */
export const MARKING: Extension = [
  MARKS,
  EditorView.theme({
    '.code-error': { ...UNDERLINED, textDecorationColor: 'var(--destructive)' },
    '.code-warning': { ...UNDERLINED, textDecorationColor: 'var(--warning)' },
  }),
];

function drawMarks(marks: readonly CodeMark[], text: Text): DecorationSet {
  const ranges = marks.flatMap(({ offset, detail, severity }) => {
    const { from, to } = findMarkedRange(text, offset);
    const decoration = Decoration.mark({ class: `code-${severity}`, attributes: { title: detail } });
    return from < to ? [decoration.range(from, to)] : [];
  });
  return Decoration.set(ranges, true);
}

/**
 * Returns the range to underline for a problem at an offset: the word that begins at the offset, or one character if no
 * word begins there. At the end of the text or of a line, returns the range of the character before the offset.
 */
function findMarkedRange(text: Text, offset: number): { from: number; to: number } {
  const at = Math.max(0, Math.min(offset, text.length));
  const line = text.lineAt(at);
  const from = at === line.to ? Math.max(line.from, at - 1) : at;
  const [word = ''] = WORD.exec(text.sliceString(from, from + LONGEST_WORD)) ?? [];
  return { from, to: Math.min(line.to, from + Math.max(1, word.length)) };
}
