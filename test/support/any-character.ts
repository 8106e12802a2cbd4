import fc from 'fast-check';

/** Code point of the first surrogate, and the number of surrogates. */
const [FIRST, COUNT] = [0xd800, 0x800];

/**
 * Generates any character but a lone surrogate: `fc.string({ unit: ANY_CHARACTER })`. The unit `binary` generates the
 * same characters, but its first use takes two seconds, for a table of all of them.
 */
export const ANY_CHARACTER: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - COUNT })
  .map((index) => String.fromCodePoint(index < FIRST ? index : index + COUNT), indexOf);

/** Returns the number that makes a character. @throws Error if the value is no character */
function indexOf(character: unknown): number {
  const code = typeof character === 'string' ? (character.codePointAt(0) ?? FIRST) : FIRST;
  const isSurrogate = code >= FIRST && code < FIRST + COUNT;
  if (isSurrogate || String.fromCodePoint(code) !== character) throw new Error(`${String(character)} is no character`);
  return code < FIRST ? code : code - COUNT;
}
