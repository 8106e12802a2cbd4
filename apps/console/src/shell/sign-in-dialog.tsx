import { Dialog } from 'radix-ui';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import {
  declineSignIn,
  isSendable,
  isSignInWanted,
  mustSignIn,
  onSignInChange,
  providerAddress,
  providerAddressTo,
  signIn,
  SIGNED_IN_PATH,
  type SignInReason,
  signInReason,
  signInTab,
} from '../api/sign-in.js';
import { useAction } from '../api/use-action.js';
import { Button, buttonClass } from '../components/button.js';
import { Field, Input } from '../components/field.js';

const IN_BROWSER = 'You stay signed in for twelve hours, in all tabs of this browser.';

const TEXTS: Record<SignInReason, [title: string, description: string]> = {
  first: ['This service requires an API key', IN_BROWSER],
  refused: ['This service requires an API key', IN_BROWSER],
  ended: ['Your session has ended', 'Sign in again to continue. This page keeps what you have entered.'],
  'signed-out': ['You are signed out', 'Sign in to continue. This page keeps what you have entered.'],
  switch: ['Use another API key', IN_BROWSER],
};

/**
 * Asks the person to sign in when the service requires it. After the end of a session the dialog covers the page, and
 * cannot be closed without a sign-in.
 */
export function SignInDialog() {
  const wanted = useSyncExternalStore(onSignInChange, isSignInWanted);
  const reason = useSyncExternalStore(onSignInChange, signInReason);
  const isClosed = useSyncExternalStore(onSignInChange, mustSignIn);
  const provider = useSyncExternalStore(onSignInChange, providerAddress);
  const hasProvider = provider !== undefined && reason !== 'switch';
  const [title, description] = TEXTS[reason];
  return (
    <Dialog.Root open={wanted} onOpenChange={(open) => !open && !isClosed && declineSignIn()}>
      <Dialog.Portal>
        <Dialog.Overlay className={`fixed inset-0 z-40 ${isClosed ? 'bg-background' : 'bg-black/50'}`} />
        <Dialog.Content className="fixed top-1/3 left-1/2 z-50 w-96 max-w-[92vw] -translate-x-1/2 rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">
            {hasProvider && reason === 'first' ? 'This service requires a sign-in' : title}
          </Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-muted-foreground">{description}</Dialog.Description>
          {hasProvider ? (
            <>
              <ProviderLink keepsPage={isClosed} />
              <details className="mt-4">
                <summary className="cursor-pointer text-sm">Use an API key or token</summary>
                <div className="mt-3">
                  <KeyForm isRefused={reason === 'refused'} canDecline={!isClosed} />
                </div>
              </details>
            </>
          ) : (
            <KeyForm isRefused={reason === 'refused'} canDecline={!isClosed} />
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/**
 * Shows a link to the sign-in at the provider. After the sign-in the provider redirects to this page.
 * @param keepsPage true to open the sign-in in a new tab, so that input on this page is not lost. The provider then
 * redirects to SIGNED_IN_PATH.
 */
function ProviderLink({ keepsPage }: { keepsPage: boolean }) {
  const here = `${location.pathname}${location.search}${location.hash}`;
  const address = providerAddressTo(keepsPage ? SIGNED_IN_PATH : here);
  return (
    <a
      href={address}
      {...(keepsPage && { target: '_blank', rel: 'noopener' })}
      className={`${buttonClass('primary')} w-full`}
    >
      Sign in with your account
    </a>
  );
}

function KeyForm({ isRefused, canDecline }: { isRefused: boolean; canDecline: boolean }) {
  const [fault, setFault] = useState<string>();
  const action = useAction();
  const submitKey = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const typed = form.get('key');
    const key = typeof typed === 'string' ? typed.trim() : '';
    if (!isSendable(key)) setFault('The key has a character that is not allowed in an API key. Check what you copied.');
    else if (key === '') return;
    else if (form.has('tab')) signInTab(key);
    else void action.run(() => signIn(key));
  };
  return (
    <form onSubmit={submitKey} className="space-y-4">
      {isRefused && (
        <p role="alert" className="text-sm text-destructive">
          The service rejected this key. It may be mistyped, revoked or from another service.
        </p>
      )}
      <Field label="API key" error={fault ?? action.error}>
        {(id) => (
          <Input id={id} name="key" type="password" autoComplete="off" required onChange={() => setFault(undefined)} />
        )}
      </Field>
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" name="tab" className="size-4 accent-primary" />
        Only in this tab, until it is closed
      </label>
      <div className="flex justify-end gap-2">
        {canDecline && (
          <Dialog.Close asChild>
            <Button>Not now</Button>
          </Dialog.Close>
        )}
        <Button kind="primary" type="submit" disabled={action.pending}>
          Sign in
        </Button>
      </div>
    </form>
  );
}
