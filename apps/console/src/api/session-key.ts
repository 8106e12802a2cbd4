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

export function answerKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  const answered = waiting;
  waiting = [];
  for (const resolve of answered) resolve(key);
  notify();
}

export function isKeyWanted(): boolean {
  return waiting.length > 0;
}

/** Whether the dialog asks again, since the key that was given is not valid. */
export function wasKeyRefused(): boolean {
  return refused;
}

export function onKeyWanted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}
