import type { Part } from './task.js';

/** Joins consecutive texts, so that an answer that arrived in pieces is one text. */
export function joinedParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && goesOn(last, part)) joined[joined.length - 1] = { ...last, text: `${last.text}${part.text}` };
    else joined.push(part);
  }
  return joined;
}

function goesOn(last: Part, next: Part): boolean {
  if (last.text === undefined || next.text === undefined || next.filename !== undefined) return false;
  return last.mediaType === next.mediaType;
}

/** Returns the text of Parts: texts, data as JSON, names of files; one below the other. */
export function partsText(parts: readonly Part[]): string {
  return joinedParts(parts)
    .map(
      ({ text, url, filename, data, raw }) =>
        text ?? url ?? (raw === undefined ? JSON.stringify(data) : (filename ?? 'a file')),
    )
    .join('\n');
}
