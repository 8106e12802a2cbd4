import { createHash } from 'node:crypto';

const LONGEST = 64;
/** Characters of what tells apart those that begin alike. */
const DIGEST = 8;

/**
 * What a tool is called on the wire of a model: `server__tool`, of letters, digits, `_` and `-`, at most 64. The same for
 * the same tool; what is such a name already stays. One that is too long ends in a digest of all of it.
 */
export function wireName(tool: string): string {
  const name = tool.replace('/', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (name.length <= LONGEST) return name;
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, DIGEST);
  return `${name.slice(0, LONGEST - DIGEST - 1)}_${digest}`;
}
