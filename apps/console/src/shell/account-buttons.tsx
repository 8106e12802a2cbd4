import { KeyRound, LogOut } from 'lucide-react';
import { type ReactNode, useSyncExternalStore } from 'react';
import { changeKey, currentSession, isSignedIn, onSignInChange, signOut } from '../api/sign-in.js';
import { useAction } from '../api/use-action.js';

/** Shows buttons to use another API key and to sign out; nothing without a sign-in. */
export function AccountButtons() {
  const signedIn = useSyncExternalStore(onSignInChange, isSignedIn);
  const session = useSyncExternalStore(onSignInChange, currentSession);
  const action = useAction();
  if (!signedIn) return null;
  const caller = session === undefined ? '' : ` ${session.caller}`;
  return (
    <>
      <AccountButton label="Use another API key" onClick={() => void changeKey()}>
        <KeyRound className="size-4" aria-hidden />
      </AccountButton>
      <AccountButton label={action.error ?? `Sign out${caller}`} onClick={() => void action.run(signOut)}>
        <LogOut className="size-4" aria-hidden />
      </AccountButton>
    </>
  );
}

function AccountButton({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="rounded-md p-2 text-muted-foreground hover:bg-muted hover:text-foreground"
    >
      {children}
    </button>
  );
}
