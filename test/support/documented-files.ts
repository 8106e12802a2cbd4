import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Writes the code blocks of a page of docs/ that name a file after their language, each to its file. @returns the names
 * of the files
 */
export function writeDocumentedFiles(page: string, folder: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  const files = [...text.matchAll(/^```\w+ ([\w.-]+)\n(.*?)^```$/gms)];
  for (const [, name = '', content = ''] of files) writeFileSync(join(folder, name), content);
  return files.map(([, name = '']) => name);
}

/** Example agent of a page: a section with its code, and the commands that start, register and call it. */
export interface DocumentedExample {
  title: string;
  language: string;
  /** Name of the file with the agent's code. */
  file: string;
  /** Port in the code and the commands. */
  port: string;
  /** Commands that a reader enters in the terminal of the agent. */
  agent: string;
  /** Commands that a reader enters in the terminal of the caller. */
  caller: string;
  /** Documented output of the caller's last command. */
  seen: string;
}

/** Reads the sections of a page of docs/ that have blocks `sh agent`, `sh caller` and `text seen`. */
export function documentedExamples(page: string): DocumentedExample[] {
  const [, ...sections] = readFileSync(join(ROOT, 'docs', page), 'utf8').split(/^### /m);
  return sections.flatMap((section) => {
    const [, language = '', file = ''] = /^```(\w+) ([\w.-]+)$/m.exec(section) ?? [];
    const block = (info: string): string => section.split(`\n\`\`\`${info}\n`)[1]?.split(/^```$/m)[0] ?? '';
    const [agent, caller] = [block('sh agent'), block('sh caller')];
    const [, port = ''] = /:(9\d{3})$/m.exec(caller) ?? [];
    const title = section.split('\n', 1)[0] ?? '';
    return agent === '' ? [] : [{ title, language, file, port, agent, caller, seen: block('text seen') }];
  });
}
