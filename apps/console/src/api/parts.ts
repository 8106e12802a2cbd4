import type { A2aPart } from './task.js';

/** Joins consecutive texts, so that an answer that arrived in pieces is one text. */
export function joinedParts(parts: readonly A2aPart[]): A2aPart[] {
  const joined: A2aPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && goesOn(last, part)) joined[joined.length - 1] = { ...last, text: `${last.text}${part.text}` };
    else joined.push(part);
  }
  return joined;
}

function goesOn(last: A2aPart, next: A2aPart): boolean {
  if (last.text === undefined || next.text === undefined || next.filename !== undefined) return false;
  return last.mediaType === next.mediaType;
}

/** Returns Parts as one text, joined by line breaks: texts, data as JSON, names of files. */
export function partsText(parts: readonly A2aPart[]): string {
  return joinedParts(parts)
    .map(
      ({ text, url, filename, data, raw }) =>
        text ?? url ?? (raw === undefined ? JSON.stringify(data) : (filename ?? 'a file')),
    )
    .join('\n');
}
