/** Returns the key of a caller in a map. */
export function callerKey({ tenant, owner }: { tenant: string; owner: string }): string {
  return JSON.stringify([tenant, owner]);
}

/** Adds to the count of a key. A key whose count drops to zero is removed. */
export function addCount(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
