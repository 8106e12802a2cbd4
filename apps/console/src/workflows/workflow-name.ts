import { textStart } from '../components/text-start.js';

/** Pattern of the names that the service accepts. */
const NAME = /^\w[\w-]{0,63}$/;
const LONGEST = 64;
/** Name that is proposed in place of an empty one. */
const FIRST = 'my-workflow';

/**
 * Returns a valid name in place of a rejected one:
 * - An invalid name loses its diacritics, gets hyphens for other characters, and has at most 64 characters.
 * - A valid name gets a number at its end: it was rejected because another workflow has it.
 */
export function proposeName(rejected: string): string {
  if (NAME.test(rejected)) return withNumber(rejected);
  const letters = rejected.replaceAll('ß', 'ss').normalize('NFD').replaceAll(/\p{M}/gu, '');
  const words = letters.split(/\W/).filter((word) => word !== '');
  const name = textStart(words.join('-'), LONGEST);
  return (name.endsWith('-') ? name.slice(0, -1) : name) || FIRST;
}

function withNumber(name: string): string {
  const [, stem = name, number = '1'] = /^(.*)-(\d{1,4})$/.exec(name) ?? [];
  const end = `-${Number(number) + 1}`;
  return `${textStart(stem, LONGEST - end.length)}${end}`;
}
