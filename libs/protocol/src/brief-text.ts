/** So much of what an agent says of its failure is passed on: it is reported in several places. */
const MOST = 8_192;

/** The beginning of a text, where it is longer than the words of an error may be. */
export function briefText(text: string): string {
  return text.length <= MOST ? text : `${text.slice(0, MOST)}…`;
}
