import { createHash } from 'node:crypto';

/** A file as the answer to its upload describes it. */
export interface SentFile {
  id: string;
  name: string;
  mediaType: string;
  size: number;
  sha256: string;
  url: string;
}

/** Returns the SHA-256 of a content, as files have it. */
export const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Returns a form that uploads files. */
export function formOf(...files: [name: string, content: Buffer, type?: string][]): FormData {
  const form = new FormData();
  for (const [name, content, type = 'application/octet-stream'] of files)
    form.append('file', new Blob([content], { type }), name);
  return form;
}
