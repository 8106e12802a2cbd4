import { uploadFiles } from '../api/files.js';
import type { A2aPart } from '../api/task.js';

/** The person's input for a Message. */
export interface MessageDraft {
  text: string;
  /** JSON of the data Part; empty for none. */
  data: string;
  files: readonly File[];
}

/** Maximum total size, in bytes, of files that are sent inside the request as base64. */
const MOST_BYTES = 2.5 * 1024 * 1024;

/**
 * Returns the Parts of a Message: its text, its data, its files.
 * Files of more than 2.5 MiB together are uploaded and named by their URLs.
 * @throws SyntaxError if the data is not valid JSON; ApiProblem if an upload fails
 */
export async function composeParts({ text, data, files }: MessageDraft, upload = uploadFiles): Promise<A2aPart[]> {
  const said: A2aPart[] = [
    ...(text.trim() === '' ? [] : [{ text, mediaType: 'text/plain' }]),
    ...(data.trim() === '' ? [] : [{ data: JSON.parse(data) as unknown, mediaType: 'application/json' }]),
  ];
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= MOST_BYTES) return [...said, ...(await Promise.all(files.map(filePart)))];
  const stored = await upload(files);
  return [...said, ...stored.map(({ url, mediaType, name }) => ({ url, mediaType, filename: name }))];
}

async function filePart(file: File): Promise<A2aPart> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { raw: encodeBase64(bytes), mediaType: file.type || 'application/octet-stream', filename: file.name };
}

/** Encodes bytes as base64. It works in pieces, because a function call takes a limited number of arguments. */
function encodeBase64(bytes: Uint8Array): string {
  const size = 0x8000;
  let text = '';
  for (let at = 0; at < bytes.length; at += size) text += String.fromCharCode(...bytes.subarray(at, at + size));
  return btoa(text);
}
