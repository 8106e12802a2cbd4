import { lazy, type ReactNode, Suspense } from 'react';
import { Field, TextArea } from '../components/field.js';
import type { CodeSettings } from './code.js';
import type { CodeEditorProps } from './code-editor.js';

interface CodeFieldProps extends CodeSettings {
  label: string;
  /** Advice that is shown beside the field before the person types. */
  hint?: ReactNode;
  error?: string | undefined;
}

const CodeEditor = lazy(async () => ({ default: await loadEditor() }));

/** Loads the editor of code. Resolves with a plain text area instead if it cannot be loaded. */
async function loadEditor(): Promise<(props: CodeEditorProps) => ReactNode> {
  return import('./code-editor.js').then(
    (module) => module.CodeEditor,
    () => PlainEditor,
  );
}

/** Maximum delay before the code editor is loaded, in milliseconds, also on a page that is never idle. */
const PRELOAD_MS = 2_000;

/**
 * Loads the editor of code before the first field is shown, when the page has nothing else to do. The returned function
 * cancels that.
 */
export function preloadCodeEditor(): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(() => void loadEditor(), PRELOAD_MS);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(() => void loadEditor(), { timeout: PRELOAD_MS });
  return () => cancelIdleCallback(idle);
}

/** Shows a field for code, or for a text with code in it. Its editor is loaded with the first field. */
export function CodeField({ label, hint, error, ...settings }: CodeFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id, labelId) => (
        <Suspense fallback={<UnloadedEditor {...settings} />}>
          <CodeEditor {...settings} id={id} labelId={labelId} />
        </Suspense>
      )}
    </Field>
  );
}

function PlainEditor({ id, value, rows, placeholder, invalid, onChange }: CodeEditorProps) {
  return (
    <TextArea
      id={id}
      rows={rows}
      value={value}
      placeholder={placeholder}
      aria-invalid={invalid}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** Shows the text while the editor is loaded, in the editor's size. */
function UnloadedEditor({ value, rows }: CodeSettings) {
  return (
    <div
      aria-busy
      style={{ minHeight: `calc(${rows} * 1.25rem + 0.75rem + 2px)` }}
      className="max-h-[60vh] overflow-hidden rounded-md border border-input bg-card px-2.5 py-1.5 text-sm break-words whitespace-pre-wrap"
    >
      {value}
    </div>
  );
}
