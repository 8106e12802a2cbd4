import { createHash } from 'node:crypto';
import { textStart } from '#libs/protocol';

/** Maximum length of a tool's name. */
export const LONGEST_NAME = 128;
/** Characters that MCP advises against in names, and that neither globs nor models support. */
const OTHERS = /[^\w./-]/gu;
const DIGEST_DIGITS = 8;

/**
 * Returns the name by which each tool is offered.
 * - A name of letters, digits, `_`, `-`, `.` and `/` stays.
 * - Any other character becomes `_`.
 * - A digest of the original name is appended if two tools would share a name, or if no letter or digit is left.
 * - The order of the tools has no effect.
 */
export function cleanedNames(names: readonly string[]): Map<string, string> {
  const cleaned = names.map((name) => [name, name.replaceAll(OTHERS, '_')] as const);
  const uses = Map.groupBy(cleaned, ([, it]) => it);
  return new Map(
    cleaned.map(([name, it]) => {
      if (name === it) return [name, name];
      const isPlain = uses.get(it)!.length === 1 && /[A-Za-z0-9]/.test(it);
      return [name, isPlain ? it : `${textStart(it, LONGEST_NAME - 1 - DIGEST_DIGITS)}_${nameDigest(name)}`];
    }),
  );
}

function nameDigest(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, DIGEST_DIGITS);
}
