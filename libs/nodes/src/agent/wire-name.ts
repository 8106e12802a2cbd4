const LONGEST = 64;

/**
 * What a tool is called on the wire of a model: `server__tool`, of letters, digits, `_` and `-`, at most 64. The same for
 * the same tool; what is such a name already stays.
 */
export function wireName(tool: string): string {
  return tool
    .replace('/', '__')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, LONGEST);
}
