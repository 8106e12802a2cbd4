import { Braces, Download, Upload } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ChangeEvent, useState } from 'react';
import type { CodeMark } from '../code/code.js';
import { CodeField } from '../code/code-field.js';
import { findJsonFault } from '../code/json-fault.js';
import { Button } from '../components/button.js';
import { CopyButton } from '../components/json-view.js';
import { type Draft, moveNodes } from './draft.js';
import { draftFromText, draftText } from './draft-json.js';
import type { DraftEditing } from './use-draft.js';

interface JsonDialogProps {
  editing: DraftEditing;
  isNew: boolean;
}

/** Shows a dialog with the workflow as JSON, to copy, save, edit or replace it. */
export function JsonDialog({ editing: { draft, change }, isNew }: JsonDialogProps) {
  const [open, setOpen] = useState(false);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <Button kind="quiet" title="The workflow as JSON">
          <Braces className="size-4" aria-hidden /> <span className="max-md:sr-only">JSON</span>
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[44rem] max-w-[94vw] -translate-1/2 flex-col gap-3 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">The workflow as JSON</Dialog.Title>
          <Dialog.Description className="text-sm text-muted-foreground">
            The complete definition. Edit it here or load one from a file; this does not save it.
          </Dialog.Description>
          <JsonText
            draft={draft}
            onTake={async (taken) => {
              const named = isNew ? taken : { ...taken, name: draft.name };
              const { placedAside } = await import('../graph/layout-aside.js');
              const places = await placedAside(named);
              change(() => moveNodes(named, places));
              setOpen(false);
            }}
          />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface JsonTextProps {
  draft: Draft;
  onTake: (draft: Draft) => Promise<void>;
}

function JsonText({ draft, onTake }: JsonTextProps) {
  const [begun] = useState(() => draftText(draft));
  const [text, setText] = useState(begun);
  const [fault, setFault] = useState<string>();
  const [marks, setMarks] = useState<readonly CodeMark[]>([]);
  const takeText = (): void => {
    try {
      const taken = draftFromText(text);
      setFault(undefined);
      setMarks([]);
      void onTake(taken);
    } catch (error) {
      const detail = (error as Error).message;
      const offset = findJsonFault(text);
      setFault(detail);
      setMarks(offset === undefined ? [] : [{ offset, detail, severity: 'error' }]);
    }
  };
  const readFile = async ({ target }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const file = target.files?.[0];
    if (file) setText(await file.text());
  };
  return (
    <>
      <CodeField
        label="Definition"
        error={fault}
        language="json"
        numbered
        rows={20}
        value={text}
        marks={marks}
        invalid={fault !== undefined}
        onChange={setText}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <CopyButton text={text} label="Copy all of it" />
        <a
          href={`data:application/json;charset=utf-8,${encodeURIComponent(text)}`}
          download={`${draft.name || 'workflow'}.json`}
          className="inline-flex items-center gap-1.5 px-2 text-sm underline"
        >
          <Download className="size-4" aria-hidden /> Download
        </a>
        <label className="inline-flex cursor-pointer items-center gap-1.5 px-2 text-sm underline focus-within:outline-2">
          <Upload className="size-4" aria-hidden /> Open a file
          <input
            type="file"
            accept=".json,application/json"
            className="sr-only"
            onChange={(event) => void readFile(event)}
          />
        </label>
        <Dialog.Close asChild>
          <Button>Close</Button>
        </Dialog.Close>
        <Button kind="primary" disabled={text === begun} onClick={takeText}>
          Use this
        </Button>
      </div>
    </>
  );
}
