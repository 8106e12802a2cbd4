import type { Part } from '../api/task.js';

/** What a person has put together for a Message. */
export interface Draft {
  text: string;
  /** JSON, or nothing. */
  data: string;
  files: readonly File[];
}

/** The Parts of a Message: its text, its data, its files. @throws SyntaxError where the data is no JSON */
export async function composeParts({ text, data, files }: Draft): Promise<Part[]> {
  return [
    ...(text.trim() === '' ? [] : [{ text, mediaType: 'text/plain' }]),
    ...(data.trim() === '' ? [] : [{ data: JSON.parse(data) as unknown, mediaType: 'application/json' }]),
    ...(await Promise.all(files.map(filePart))),
  ];
}

async function filePart(file: File): Promise<Part> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { raw: base64(bytes), mediaType: file.type || 'application/octet-stream', filename: file.name };
}

/** In pieces: a call takes a limited number of arguments. */
function base64(bytes: Uint8Array): string {
  const size = 0x8000;
  let text = '';
  for (let at = 0; at < bytes.length; at += size) text += String.fromCharCode(...bytes.subarray(at, at + size));
  return btoa(text);
}
