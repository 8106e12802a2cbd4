import { Dialog } from 'radix-ui';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import { answerKey, isKeyInUse, isKeyWanted, isSendable, onKeyChange, wasKeyRefused } from '../api/session-key.js';
import { Button } from '../components/button.js';
import { Field, Input } from '../components/field.js';

/** Asks for the API key when the service requires one. The key stays in this browser tab. */
export function ApiKeyDialog() {
  const wanted = useSyncExternalStore(onKeyChange, isKeyWanted);
  const refused = useSyncExternalStore(onKeyChange, wasKeyRefused);
  const inUse = useSyncExternalStore(onKeyChange, isKeyInUse);
  return (
    <Dialog.Root open={wanted} onOpenChange={(open) => !open && answerKey(undefined)}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-1/3 left-1/2 z-50 w-96 max-w-[92vw] -translate-x-1/2 rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">
            {inUse && !refused ? 'Use another API key' : 'This service requires an API key'}
          </Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-muted-foreground">
            It is kept in this browser tab only, and is forgotten when the tab is closed.
          </Dialog.Description>
          <KeyForm refused={refused} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function KeyForm({ refused }: { refused: boolean }) {
  const [fault, setFault] = useState<string>();
  const submitKey = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('key');
    const key = typeof typed === 'string' ? typed.trim() : '';
    if (!isSendable(key)) setFault('The key has a character that is not allowed in an API key. Check what you copied.');
    else if (key !== '') answerKey(key);
  };
  return (
    <form onSubmit={submitKey} className="space-y-4">
      {refused && (
        <p role="alert" className="text-sm text-destructive">
          The service rejected this key. It may be mistyped, revoked or from another service.
        </p>
      )}
      <Field label="API key" error={fault}>
        {(id) => (
          <Input id={id} name="key" type="password" autoComplete="off" required onChange={() => setFault(undefined)} />
        )}
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
  );
}
