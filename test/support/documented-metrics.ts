import { readFileSync } from 'node:fs';

/** Returns the metrics that docs/OBSERVABILITY.md lists. */
export function documentedMetrics(): { name: string; type: string }[] {
  const rows = readFileSync('docs/OBSERVABILITY.md', 'utf8').matchAll(/^\| `(parley_\w+)` +\| (\w+) /gm);
  return [...rows].map(([, name = '', type = '']) => ({ name, type }));
}
