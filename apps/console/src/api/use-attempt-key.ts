import { useState } from 'react';
import { newId } from './new-id.js';

/**
 * Gives what a form asks for its `Idempotency-Key`: the same asked again, since no answer came, has the same key and is
 * done once.
 */
export function useAttemptKey(): (body: unknown) => string {
  const [keys] = useState(() => new Map<string, string>());
  return (body) => {
    const text = JSON.stringify(body);
    const key = keys.get(text) ?? newId();
    keys.set(text, key);
    return key;
  };
}
