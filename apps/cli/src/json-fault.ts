/**
 * Returns the reason why a text is not JSON, with its position: `Unexpected token … at line 2, column 11`. Returns
 * `undefined` for valid JSON.
 */
export function jsonFault(text: string): string | undefined {
  const message = parserMessage(text);
  if (message === undefined) return undefined;
  const before = text.slice(0, firstFault(text)).split('\n');
  const [what = ''] = message.split(/,? (?:\.\.\.)?"| in JSON at| after JSON at| at position/);
  return `${what} at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/**
 * Returns the index of the first character that makes a text invalid JSON, whatever follows. The parser's message does
 * not always have it.
 */
function firstFault(text: string): number {
  let [fine, broken] = [0, text.length + 1];
  while (broken - fine > 1) {
    const middle = (fine + broken) >> 1;
    if (isBegun(text.slice(0, middle))) fine = middle;
    else broken = middle;
  }
  return fine;
}

/** True if a text is JSON or the beginning of JSON: the parser finds no error before the end of the text. */
function isBegun(text: string): boolean {
  const message = parserMessage(text);
  if (message === undefined || message.startsWith('Unexpected end')) return true;
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position !== undefined && Number(position) >= text.length;
}

function parserMessage(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
