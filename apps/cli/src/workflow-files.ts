import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { isJsonObject } from '#libs/protocol';
import { CommandError } from './exit-code.js';

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

/** True if a text is JSON or the beginning of JSON: the parser reaches its end without an error. */
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

/** Workflow in a file. */
export interface WorkflowFile {
  path: string;
  definition: Record<string, unknown> & { name: string };
  /** Contents of the file, with the references to variables (`${env:NAME}`) in place of their values. */
  written: unknown;
  /**
   * Returns the position of a member by its path (`nodes[0].config.prompt`), or of its nearest existing parent;
   * `undefined` if it is unknown.
   */
  locateMember(path: string): FilePosition | undefined;
}

/** Position in a file; both numbers count from 1. */
interface FilePosition {
  line: number;
  column: number;
}

const FILE = /\.(ya?ml|json)$/i;
const NAME = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Folders that are skipped: they have no workflows, or belong to the command. */
const SKIPPED = new Set(['node_modules', '.git', '.parley']);

/** File that is meant as a workflow and cannot be read as one. */
export interface WrongFile {
  path: string;
  detail: string;
  place?: FilePosition | undefined;
}

/**
 * Reads the workflows in a folder and its subfolders, or in one file. `${env:NAME}` in a text is replaced by the
 * variable's value.
 * @throws CommandError naming each file that cannot be read as a workflow, and each variable that is not set
 */
export function readWorkflowFiles(where: string, env: Readonly<Record<string, string | undefined>>): WorkflowFile[] {
  const { files, wrong } = scanWorkflowFiles(where, env);
  if (wrong.length > 0) throw new CommandError(wrong.map(describeWrongFile).join('\n'));
  return files;
}

/**
 * Reads workflow files like `readWorkflowFiles`, but returns files in error beside the workflows.
 * @throws CommandError if the path does not exist
 */
export function scanWorkflowFiles(
  where: string,
  env: Readonly<Record<string, string | undefined>>,
): { files: WorkflowFile[]; wrong: WrongFile[] } {
  if (!existsSync(where))
    throw new CommandError(`${where} does not exist; create workflows from a template with \`parley init\``);
  const isFolder = statSync(where).isDirectory();
  const paths = isFolder ? filesUnder(where) : [where];
  const wrong: WrongFile[] = [];
  const files = paths.flatMap((path): WorkflowFile[] => {
    const read = readFile(path, env);
    if ('wrong' in read) wrong.push(...read.wrong);
    return 'file' in read ? [read.file] : [];
  });
  if (!isFolder && files.length === 0 && wrong.length === 0)
    wrong.push({ path: where, detail: 'a workflow has a name and nodes' });
  return { files, wrong: [...wrong, ...findRepeated(files)] };
}

/** Formats a file in error as a line: the file, the line in it, and the reason. */
export function describeWrongFile({ path, place, detail }: WrongFile): string {
  return `${path}${place === undefined ? '' : `:${place.line}`}: ${detail}`;
}

/** Formats the position of a member: `workflows/greeting.yaml:4 nodes[0].type`. */
export function shownPlace(file: WorkflowFile, member: string): string {
  const place = file.locateMember(member);
  return `${file.path}${place === undefined ? '' : `:${place.line}`}${member === '' ? '' : ` ${member}`}`;
}

function filesUnder(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesUnder(path);
    return FILE.test(entry.name) ? [path] : [];
  });
}

/** Reads a workflow file. A file that does not look like a workflow is skipped, since it may belong to another tool. */
function readFile(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): { file: WorkflowFile } | { wrong: WrongFile[] } | Record<string, never> {
  const shown = relative('.', path) || path;
  const wrongWith = (...details: string[]): { wrong: WrongFile[] } => ({
    wrong: details.map((detail) => ({ path: shown, detail })),
  });
  const bytes = readFileBytes(path);
  if ('unreadable' in bytes) return wrongWith(bytes.unreadable);
  // Editors of some systems start a file with a byte order mark, which JSON does not allow.
  const text = bytes.toString().replace(/^\uFEFF/, '');
  const broken = /\.json$/i.test(path) ? jsonFault(text) : undefined;
  if (broken !== undefined) return wrongWith(broken);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const faults = document.errors.filter(({ code }) => code !== 'MULTIPLE_DOCS');
  if (faults.length > 0) return wrongWith(...faults.map(({ message }) => firstLine(message)));
  const written = documentValue(document);
  if (written instanceof ReferenceError) return wrongWith(firstLine(written.message));
  if (!isWorkflow(written)) {
    if (!isMeantAsWorkflow(written)) return {};
    const place = placeIn(document, lines, 'nodes');
    return { wrong: [{ path: shown, detail: 'a workflow needs a name and a list of nodes', place }] };
  }
  if (!isUtf8(bytes)) return wrongWith('is not UTF-8');
  if (document.errors.length > 0) return wrongWith('has several documents; a file has one workflow');
  const unset = new Set<string>();
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return;
      node.value = node.value.replace(NAME, (_, name: string) => {
        const value = env[name];
        if (value === undefined) unset.add(name);
        return value ?? '';
      });
    },
  });
  if (unset.size > 0) return wrongWith(...[...unset].map((name) => `the environment variable ${name} is not set`));
  const definition = document.toJS() as WorkflowFile['definition'];
  const locateIn = (member: string): FilePosition | undefined => placeIn(document, lines, member);
  return { file: { path: shown, definition, written, locateMember: locateIn } };
}

function readFileBytes(path: string): Buffer | { unreadable: string } {
  try {
    return readFileSync(path);
  } catch (error) {
    return { unreadable: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})` };
  }
}

/** Returns the value of a document, or the error of an alias (`*name`) without an anchor (`&name`). */
function documentValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS() as unknown;
  } catch (error) {
    if (error instanceof ReferenceError) return error;
    throw error;
  }
}

/** Returns the first line of a parser's message. The excerpt below it is dropped, and the colon before the excerpt. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '');
}

function isWorkflow(value: unknown): value is WorkflowFile['definition'] {
  return isJsonObject(value) && typeof value['name'] === 'string' && Array.isArray(value['nodes']);
}

/** True if the content of a file that is no valid definition was meant as a workflow: it has `nodes` or `edges`. */
function isMeantAsWorkflow(value: unknown): boolean {
  return isJsonObject(value) && ('nodes' in value || 'edges' in value);
}

function findRepeated(files: readonly WorkflowFile[]): WrongFile[] {
  const first = new Map<string, string>();
  return files.flatMap(({ path, definition: { name } }) => {
    const before = first.get(name);
    if (before === undefined) first.set(name, path);
    return before === undefined ? [] : [{ path, detail: `${before} is a workflow "${name}" as well` }];
  });
}

function placeIn(
  document: ReturnType<typeof parseDocument>,
  lines: LineCounter,
  member: string,
): FilePosition | undefined {
  const keys = [...member.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
  for (let depth = keys.length; depth > 0; depth -= 1) {
    const node = document.getIn(keys.slice(0, depth), true) as { range?: [number, number, number] } | undefined;
    if (!node?.range) continue;
    const { line, col: column } = lines.linePos(node.range[0]);
    return { line, column };
  }
  return isScalar(document.contents) ? undefined : { line: 1, column: 1 };
}
