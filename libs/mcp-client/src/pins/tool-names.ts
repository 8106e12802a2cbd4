import { createHash } from 'node:crypto';
import { textStart } from '#libs/protocol';

/** Characters that the name of a tool may have. */
export const LONGEST_NAME = 128;
/** Characters that MCP advises not to use in names, and that neither globs nor models take. */
const OTHERS = /[^\w./-]/gu;
const DIGEST_DIGITS = 8;

/**
 * Returns the name that each tool is offered by: its own where it has letters, digits, `_`, `-`, `.` and `/` alone, else
 * one with `_` in place of each other character. Where that is the name of another tool, or has no letter and no digit,
 * a digest of the tool's own name follows. The order of the tools changes nothing.
 */
export function cleanedNames(names: readonly string[]): Map<string, string> {
  const cleaned = names.map((name) => [name, name.replaceAll(OTHERS, '_')] as const);
  const uses = Map.groupBy(cleaned, ([, it]) => it);
  return new Map(
    cleaned.map(([name, it]) => {
      if (name === it) return [name, name];
      const isPlain = uses.get(it)!.length === 1 && /[A-Za-z0-9]/.test(it);
      return [name, isPlain ? it : `${textStart(it, LONGEST_NAME - 1 - DIGEST_DIGITS)}_${digestOf(name)}`];
    }),
  );
}

function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, DIGEST_DIGITS);
}
