/** The caller's API key: kept for this tab, asked for when the service wants one. */

const NAME = 'parley.api-key';
const listeners = new Set<() => void>();
let waiting: ((key: string | undefined) => void)[] = [];
let refused = false;

export function sessionKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/**
 * Resolves with the key that the person gives, or `undefined` when they give none. One dialog serves all who ask.
 * @param used the key that the service did not take, if there was one
 */
export function askForKey(used?: string): Promise<string | undefined> {
  refused = used !== undefined;
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
    notify();
  });
}

/** Asks for a key in the place of the one that is used, and shows everything anew with it; without one all stays. */
export async function changeKey(): Promise<void> {
  if ((await askForKey()) !== undefined) location.reload();
}

/** Whether a text can be sent as a key at all: a header takes no character beyond Latin-1, and no line break. */
export function isSendable(key: string): boolean {
  try {
    return new Headers({ authorization: `Bearer ${key}` }).has('authorization');
  } catch {
    return false;
  }
}

/** @param key `undefined` for none: then a key that was refused is forgotten, and another one stays */
export function answerKey(key: string | undefined): void {
  if (key !== undefined) sessionStorage.setItem(NAME, key);
  else if (refused) sessionStorage.removeItem(NAME);
  const answered = waiting;
  waiting = [];
  for (const resolve of answered) resolve(key);
  notify();
}

export function isKeyInUse(): boolean {
  return sessionKey() !== undefined;
}

export function isKeyWanted(): boolean {
  return waiting.length > 0;
}

/** Whether the dialog asks again, since the key that was given is not valid. */
export function wasKeyRefused(): boolean {
  return refused;
}

/** Calls back whenever a key is asked for or given. */
export function onKeyChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}
