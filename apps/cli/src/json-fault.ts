/** Returns why and where a text is not JSON: `Unexpected token … at line 2, column 11`; `undefined` if it is. */
export function jsonFault(text: string): string | undefined {
  const message = parserMessage(text);
  if (message === undefined) return undefined;
  const before = text.slice(0, firstFault(text)).split('\n');
  const [what = ''] = message.split(/,? (?:\.\.\.)?"| in JSON at| after JSON at| at position/);
  return `${what} at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** Returns the index of the first character that no continuation could fix. Not all messages of the parser have it. */
function firstFault(text: string): number {
  let [fine, broken] = [0, text.length + 1];
  while (broken - fine > 1) {
    const middle = (fine + broken) >> 1;
    if (isBegun(text.slice(0, middle))) fine = middle;
    else broken = middle;
  }
  return fine;
}

/** True if a text is JSON or a prefix of JSON: the parser reached its end without a fault. */
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
