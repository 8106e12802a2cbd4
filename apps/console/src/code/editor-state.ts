import { history, historyKeymap, insertNewline, standardKeymap } from '@codemirror/commands';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import type { CodeSettings, SuggestWords } from './code.js';
import { EDITOR_THEME } from './editor-theme.js';
import { highlightLanguage } from './highlighting.js';
import { MARKING } from './marks.js';
import { suggestWords } from './suggestions.js';

/** Settings of a field that may change while the person types. */
export interface EditorLook extends Pick<CodeSettings, 'invalid' | 'language' | 'numbered' | 'placeholder' | 'words'> {
  id: string;
  /** Id of the element that labels the field. */
  labelId: string;
}

export interface EditorHandlers {
  onChange: (text: string) => void;
  suggest: SuggestWords;
}

/** Extensions of a field that depend on its settings. */
const LOOK = new Compartment();

/** Creates the state of an editor, without any change to undo. */
export function createEditorState(text: string, look: EditorLook, { onChange, suggest }: EditorHandlers): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      // Tab has no entry: it leaves the field.
      keymap.of([{ key: 'Enter', run: insertNewline }, ...standardKeymap, ...historyKeymap]),
      history(),
      EditorView.lineWrapping,
      EDITOR_THEME,
      MARKING,
      suggestWords(suggest, look.words ?? 'Words'),
      EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
      LOOK.of(extensionsFor(look)),
    ],
  });
}

/** Applies changed settings to an editor. */
export function showLook(view: EditorView, look: EditorLook): void {
  view.dispatch({ effects: LOOK.reconfigure(extensionsFor(look)) });
}

function extensionsFor({ id, labelId, language, numbered, invalid = false, ...look }: EditorLook): Extension {
  const isProse = language === 'text' || language === 'template';
  return [
    EditorView.contentAttributes.of({
      id,
      // An editable element can have the focus without it, which accessibility checkers do not know.
      tabindex: '0',
      'aria-labelledby': labelId,
      'aria-invalid': String(invalid),
      ...(isProse && { spellcheck: 'true', autocorrect: 'on', autocapitalize: 'sentences' }),
    }),
    EditorView.editorAttributes.of({ class: isProse ? '' : 'code-mono' }),
    highlightLanguage(language),
    look.placeholder === undefined ? [] : placeholder(look.placeholder),
    numbered ? lineNumbers() : [],
  ];
}
