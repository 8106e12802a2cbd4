import { Dialog } from 'radix-ui';
import { type FormEvent, useSyncExternalStore } from 'react';
import { answerKey, isKeyWanted, onKeyWanted, wasKeyRefused } from '../api/session-key.js';
import { Button } from '../components/button.js';
import { Field, Input } from '../components/field.js';

/** Asks for the API key when the service wants one. The key stays in this browser tab. */
export function ApiKeyDialog() {
  const wanted = useSyncExternalStore(onKeyWanted, isKeyWanted);
  const refused = useSyncExternalStore(onKeyWanted, wasKeyRefused);
  return (
    <Dialog.Root open={wanted} onOpenChange={(open) => !open && answerKey(undefined)}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-1/3 left-1/2 z-50 w-96 max-w-[92vw] -translate-x-1/2 rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">This service wants an API key</Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-muted-foreground">
            It is kept in this browser tab only, and is forgotten when the tab is closed.
          </Dialog.Description>
          <form onSubmit={submit} className="space-y-4">
            {refused && (
              <p role="alert" className="text-sm text-destructive">
                The service did not take this key. It may be mistyped, revoked or of another service.
              </p>
            )}
            <Field label="API key">
              {(id) => <Input id={id} name="key" type="password" autoComplete="off" required />}
            </Field>
            <div className="flex justify-end gap-2">
              <Dialog.Close asChild>
                <Button>Not now</Button>
              </Dialog.Close>
              <Button kind="primary" type="submit">
                Use this key
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function submit(event: FormEvent<HTMLFormElement>): void {
  event.preventDefault();
  const key = new FormData(event.currentTarget).get('key');
  if (typeof key === 'string' && key.trim() !== '') answerKey(key.trim());
}
