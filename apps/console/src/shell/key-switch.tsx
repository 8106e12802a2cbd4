import { KeyRound } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { changeKey, isKeyInUse, onKeyChange } from '../api/session-key.js';

/** Shows a button to enter a different API key; nothing if no key is in use. */
export function KeySwitch() {
  const inUse = useSyncExternalStore(onKeyChange, isKeyInUse);
  if (!inUse) return null;
  const label = 'Use another API key';
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => void changeKey()}
      className="rounded-md p-2 text-muted-foreground hover:bg-muted hover:text-foreground"
    >
      <KeyRound className="size-4" aria-hidden />
    </button>
  );
}
