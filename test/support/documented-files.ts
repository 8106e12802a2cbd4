import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Writes the blocks of a page of docs/ that have a file's name behind their language, and gives their names. */
export function writeDocumentedFiles(page: string, folder: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  const files = [...text.matchAll(/^```\w+ ([\w.-]+)\n(.*?)^```$/gms)];
  for (const [, name = '', content = ''] of files) writeFileSync(join(folder, name), content);
  return files.map(([, name = '']) => name);
}
