/** Name in session storage of the caller's API key. */

const NAME = 'parley.api-key';
const listeners = new Set<() => void>();
let waiting: ((key: string | undefined) => void)[] = [];
let refused = false;

export function sessionKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/**
 * Asks the person for an API key, in a dialog that serves all callers at once. Resolves with the entered key, or
 * `undefined` if the person enters none.
 * @param used the key that the service refused, if any
 */
export function askForKey(used?: string): Promise<string | undefined> {
  refused = used !== undefined;
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
    notifyKeyListeners();
  });
}

/**
 * Asks for an API key in place of the current one, and reloads the page with it. Without a new key, nothing changes.
 */
export async function changeKey(): Promise<void> {
  if ((await askForKey()) !== undefined) location.reload();
}

/** True if a text can be sent as a key: a header allows no character beyond Latin-1 and no line break. */
export function isSendable(key: string): boolean {
  try {
    return new Headers({ authorization: `Bearer ${key}` }).has('authorization');
  } catch {
    return false;
  }
}

/**
 * Resolves all pending requests for an API key.
 * @param key `undefined` for none: a refused key is then removed, any other key stays
 */
export function answerKey(key: string | undefined): void {
  if (key !== undefined) sessionStorage.setItem(NAME, key);
  else if (refused) sessionStorage.removeItem(NAME);
  const answered = waiting;
  waiting = [];
  for (const resolve of answered) resolve(key);
  notifyKeyListeners();
}

export function isKeyInUse(): boolean {
  return sessionKey() !== undefined;
}

export function isKeyWanted(): boolean {
  return waiting.length > 0;
}

/** True if the dialog asks again because the key was refused. */
export function wasKeyRefused(): boolean {
  return refused;
}

/**
 * Calls the listener whenever an API key is requested or entered.
 * @returns a function that removes the listener
 */
export function onKeyChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notifyKeyListeners(): void {
  for (const listener of listeners) listener();
}
