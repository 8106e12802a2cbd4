import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { CodeLanguage } from './code.js';
import { type CodeToken, findTokens } from './tokens.js';

const COLORS: Readonly<Record<CodeToken['kind'], string>> = {
  function: '--node-input',
  keyword: '--primary',
  name: '--node-input',
  number: '--warning',
  reference: '--primary',
  string: '--success',
};

const DECORATIONS = new Map(Object.keys(COLORS).map((kind) => [kind, Decoration.mark({ class: `code-${kind}` })]));

const THEME = EditorView.theme({
  ...Object.fromEntries(Object.entries(COLORS).map(([kind, color]) => [`.code-${kind}`, { color: `var(${color})` }])),
  '.code-reference': { color: 'var(--primary)', fontWeight: '500' },
});

/** Shows the tokens of a language in colors. Only visible tokens are drawn. */
export function highlightLanguage(language: CodeLanguage): Extension {
  const draw = ({ state, visibleRanges }: EditorView, tokens: readonly CodeToken[]): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>();
    for (const { from, to, kind } of tokens) {
      const decoration = DECORATIONS.get(kind);
      const isVisible = visibleRanges.some((range) => from < range.to && to > range.from);
      if (decoration && isVisible && to <= state.doc.length) builder.add(from, to, decoration);
    }
    return builder.finish();
  };
  const plugin = ViewPlugin.fromClass(
    class {
      tokens: readonly CodeToken[];
      decorations: DecorationSet;

      constructor(view: EditorView) {
        this.tokens = findTokens(view.state.doc.toString(), language);
        this.decorations = draw(view, this.tokens);
      }

      update({ docChanged, viewportChanged, state, view }: ViewUpdate): void {
        if (docChanged) this.tokens = findTokens(state.doc.toString(), language);
        if (docChanged || viewportChanged) this.decorations = draw(view, this.tokens);
      }
    },
    { decorations: ({ decorations }) => decorations },
  );
  return [plugin, THEME];
}
