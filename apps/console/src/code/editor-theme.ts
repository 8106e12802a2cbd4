import { EditorView } from '@codemirror/view';

/** Theme of a code field: the look of the console's other fields, in the colors of the light or dark theme. */
export const EDITOR_THEME = EditorView.theme({
  '&': {
    border: '1px solid var(--input)',
    borderRadius: '0.375rem',
    backgroundColor: 'var(--card)',
    color: 'var(--foreground)',
    fontSize: '0.875rem',
  },
  '&.cm-focused': { outline: '2px solid var(--ring)', outlineOffset: '2px' },
  '.cm-scroller': {
    maxHeight: '60vh',
    overflow: 'auto',
    resize: 'vertical',
    fontFamily: 'inherit',
    lineHeight: '1.25rem',
  },
  '&.code-mono': { fontSize: '0.75rem' },
  '&.code-mono .cm-scroller': { fontFamily: 'var(--font-mono, monospace)' },
  '.cm-content': { padding: '0.375rem 0', caretColor: 'var(--foreground)' },
  '.cm-content, .cm-gutter': { minHeight: 'calc(var(--code-rows) * 1.25rem + 0.75rem)' },
  '.cm-line': { padding: '0 0.625rem' },
  '.cm-placeholder': { color: 'var(--muted-foreground)' },
  '.cm-gutters': {
    backgroundColor: 'var(--muted)',
    color: 'var(--muted-foreground)',
    borderRight: '1px solid var(--border)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--border)',
    borderRadius: '0.375rem',
    backgroundColor: 'var(--card)',
    color: 'var(--foreground)',
    boxShadow: '0 4px 12px oklch(0 0 0 / 0.2)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--font-mono, monospace)',
    maxHeight: '12rem',
    minWidth: '12rem',
    padding: '0.25rem 0',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.25rem 0.625rem', lineHeight: '1.25rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--muted)',
    color: 'var(--foreground)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > completion-section': {
    padding: '0.25rem 0.625rem',
    borderBottom: 'none',
    fontFamily: 'inherit',
    fontSize: '0.75rem',
    color: 'var(--muted-foreground)',
    opacity: '1',
  },
});
