import { Braces, Paperclip, Send, X } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { sentenceOf } from '../api/problem.js';
import type { A2aPart } from '../api/task.js';
import { Button } from '../components/button.js';
import { TextArea } from '../components/field.js';
import { composeParts } from './compose-parts.js';

/** Shows the fields for text, data and files of the next Message. Enter sends; Shift+Enter starts a new line. */
export function Composer({ busy, onSend }: { busy: boolean; onSend: (parts: A2aPart[]) => void }) {
  const [text, setText] = useState('');
  const [data, setData] = useState<string>();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [error, setError] = useState<string>();
  /** True while files are read or uploaded. */
  const [composing, setComposing] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const composeAndSend = async (): Promise<void> => {
    if (busy || composing) return;
    setComposing(true);
    const composed = await composeParts({ text, data: data ?? '', files }).catch((failure: unknown) => failure);
    setComposing(false);
    if (!Array.isArray(composed))
      return setError(composed instanceof SyntaxError ? 'The data is not valid JSON.' : sentenceOf(composed));
    const parts = composed as A2aPart[];
    if (parts.length === 0) return;
    onSend(parts);
    setText('');
    setData(undefined);
    setFiles([]);
    setError(undefined);
  };
  const submitMessage = (event: FormEvent): void => {
    event.preventDefault();
    void composeAndSend();
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void composeAndSend();
  };
  return (
    <form onSubmit={submitMessage} className="shrink-0 space-y-2 border-t bg-card p-3">
      {data !== undefined && (
        <TextArea
          aria-label="Data as JSON"
          placeholder='{"key": "value"}'
          rows={3}
          value={data}
          onChange={({ target }) => setData(target.value)}
          className="font-mono text-xs!"
        />
      )}
      {files.length > 0 && (
        <ul aria-label="Files" className="flex flex-wrap gap-2 text-xs">
          {files.map((file, index) => (
            <li key={index} className="flex items-center gap-1 rounded-full border px-2 py-0.5">
              {file.name}
              <button
                type="button"
                aria-label={`Remove ${file.name}`}
                onClick={() => setFiles(files.filter((it) => it !== file))}
              >
                <X className="size-3" aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && (
        <p role="alert" className="text-xs text-destructive">
          {error}
        </p>
      )}
      <div className="flex items-end gap-1.5">
        <TextArea
          aria-label="Message"
          placeholder="Message"
          rows={2}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={sendOnEnter}
        />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to send"
          onChange={({ target }) => {
            setFiles([...files, ...(target.files ?? [])]);
            target.value = '';
          }}
        />
        <Button
          kind="quiet"
          className="px-2!"
          aria-label="Add a file"
          title="Add a file"
          onClick={() => picker.current?.click()}
        >
          <Paperclip className="size-4" aria-hidden />
        </Button>
        <Button
          kind="quiet"
          className="px-2!"
          aria-label="Add data"
          aria-pressed={data !== undefined}
          title="Add data"
          onClick={() => setData(data === undefined ? '' : undefined)}
        >
          <Braces className="size-4" aria-hidden />
        </Button>
        <Button kind="primary" type="submit" disabled={busy || composing}>
          <Send className="size-4" aria-hidden /> Send
        </Button>
      </div>
    </form>
  );
}
