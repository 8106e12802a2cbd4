import { useState } from 'react';
import { newId } from './new-id.js';

/**
 * Returns a function that gives an `Idempotency-Key` for a request body. An equal body gets the same key, so a retry
 * takes effect once.
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
