import type { A2aPart } from './task.js';

/** Joins consecutive text Parts of one media type to one Part: pieces of a streamed answer become one text. */
export function joinedParts(parts: readonly A2aPart[]): A2aPart[] {
  const joined: A2aPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && areOneText(last, part)) joined[joined.length - 1] = { ...last, text: `${last.text}${part.text}` };
    else joined.push(part);
  }
  return joined;
}

function areOneText(last: A2aPart, next: A2aPart): boolean {
  if (last.text === undefined || next.text === undefined || next.filename !== undefined) return false;
  return last.mediaType === next.mediaType;
}

/** Returns Parts as one text, joined by line breaks: texts, URLs, data as JSON, and the names of embedded files. */
export function partsText(parts: readonly A2aPart[]): string {
  return joinedParts(parts)
    .map(
      ({ text, url, filename, data, raw }) =>
        text ?? url ?? (raw === undefined ? JSON.stringify(data) : (filename ?? 'a file')),
    )
    .join('\n');
}
