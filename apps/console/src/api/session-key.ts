/** The caller's API key: kept for this tab, asked for when the service wants one. */

const NAME = 'parley.api-key';
const listeners = new Set<() => void>();
let waiting: ((key: string | undefined) => void)[] = [];

export function sessionKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/** Resolves with the key that the person gives, or `undefined` when they give none. One dialog serves all who ask. */
export function askForKey(): Promise<string | undefined> {
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
    tell();
  });
}

export function answerKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  const answered = waiting;
  waiting = [];
  for (const resolve of answered) resolve(key);
  tell();
}

export function isKeyWanted(): boolean {
  return waiting.length > 0;
}

export function onKeyWanted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}
