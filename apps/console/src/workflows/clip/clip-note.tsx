import { X } from 'lucide-react';
import { Button } from '../../components/button.js';
import type { Clipboard } from './use-clipboard.js';

/** Shows why nothing was pasted. After a successful copy or paste, only screen readers announce the action. */
export function ClipNote({ clipboard: { notice, dismiss } }: { clipboard: Clipboard }) {
  const isError = notice?.isError === true;
  return (
    <>
      <p role="status" className="sr-only">
        {notice && !isError ? notice.text : ''}
      </p>
      {notice && isError && (
        <div
          role="alert"
          className="absolute top-3 left-1/2 z-10 flex w-max max-w-[90%] -translate-x-1/2 items-center gap-2 rounded-md border border-destructive/50 bg-card py-1 pr-1 pl-3 text-sm shadow-lg"
        >
          {notice.text}
          <Button kind="quiet" className="px-1.5!" aria-label="Dismiss" onClick={dismiss}>
            <X className="size-4" aria-hidden />
          </Button>
        </div>
      )}
    </>
  );
}
