import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { isJsonObject } from '#libs/protocol';
import { CommandError, EXIT } from './exit-code.js';
import { ENVIRONMENTS } from './environments.js';
import { jsonFault } from './json-fault.js';
import { objectKind, objectName } from './object-kinds.js';

/** Values of the variables in `${env:NAME}`. */
export type FileVariables = Readonly<Record<string, string | undefined>>;

/** Workflow or object of another kind in a file. */
export interface DefinitionFile {
  path: string;
  /** Contents without `kind`, and with the values of the variables. */
  definition: Record<string, unknown> & { name: string };
  /** Contents of the file, with the references to variables (`${env:NAME}`) in place of their values. */
  written: unknown;
  /**
   * Returns the position of a member by its path (`nodes[0].config.prompt`), or of its nearest existing parent;
   * `undefined` if it is unknown.
   */
  locateMember(path: string): FilePosition | undefined;
}

/** Workflow in a file. */
type WorkflowFile = DefinitionFile;

/** Object of another kind in a file, such as a registered agent (`kind: agent`). */
export interface ObjectFile extends DefinitionFile {
  kind: string;
  /** Name among the objects of the kind. */
  name: string;
}

/** Workflows and objects in the files of a folder. */
export interface FolderContent {
  workflows: WorkflowFile[];
  objects: ObjectFile[];
}

/** Position in a file; both numbers count from 1. */
interface FilePosition {
  line: number;
  column: number;
}

const FILE = /\.(ya?ml|json)$/i;
const NAME = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Folders that are skipped: they have no workflows, or belong to the command. */
const SKIPPED = new Set(['node_modules', '.git', '.parley', ENVIRONMENTS]);

/** File that is meant as a workflow or object and cannot be read as one. */
export interface WrongFile {
  path: string;
  detail: string;
  place?: FilePosition | undefined;
}

/**
 * Reads the workflows and objects in a folder and its subfolders, or in one file. `${env:NAME}` in a text is replaced
 * by the variable's value.
 * @throws CommandError naming each file that cannot be read, and each variable that is not set
 */
export function readFolder(where: string, env: FileVariables): FolderContent {
  const { wrong, ...content } = scanFolder(where, env);
  if (wrong.length > 0) {
    const errors = wrong.map(({ path, detail, place }) => ({ file: path, ...place, detail }));
    throw new CommandError(wrong.map(describeWrongFile).join('\n'), EXIT.differs, { errors });
  }
  return content;
}

/**
 * Reads files like `readFolder`, but returns files in error beside the others.
 * @throws CommandError if the path does not exist
 */
export function scanFolder(where: string, env: FileVariables): FolderContent & { wrong: WrongFile[] } {
  if (!existsSync(where))
    throw new CommandError(`${where} does not exist; create workflows from a template with \`parley init\``);
  const isFolder = statSync(where).isDirectory();
  const paths = isFolder ? filesUnder(where) : [where];
  const wrong: WrongFile[] = [];
  const files = paths.flatMap((path): ScannedFile[] => {
    const read = readFile(path, env);
    if ('wrong' in read) wrong.push(...read.wrong);
    return 'file' in read ? [read.file] : [];
  });
  if (!isFolder && files.length === 0 && wrong.length === 0)
    wrong.push({ path: where, detail: 'a workflow has a name and nodes' });
  const workflows = files.filter(({ kind }) => kind === undefined).map(({ kind: _kind, ...file }) => file);
  const objects = files.flatMap((file) =>
    file.kind === undefined ? [] : [{ ...file, kind: file.kind, name: objectName(file.kind, file.definition) }],
  );
  return { workflows, objects, wrong: [...wrong, ...findRepeated(files)] };
}

/** File that was read; its kind is absent for a workflow. */
type ScannedFile = DefinitionFile & { kind?: string };

/** Formats a file in error as a line: the file, the line in it, and the reason. */
export function describeWrongFile({ path, place, detail }: WrongFile): string {
  return `${path}${place === undefined ? '' : `:${place.line}`}: ${detail}`;
}

/** Formats the position of a member: `workflows/greeting.yaml:4 nodes[0].type`. */
export function shownPlace(file: DefinitionFile, member: string): string {
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

/** Reads a file. A file that looks like no workflow and no object is skipped, since it may belong to another tool. */
function readFile(
  path: string,
  env: FileVariables,
): { file: ScannedFile } | { wrong: WrongFile[] } | Record<string, never> {
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
  const kind = kindIn(written);
  if (kind === undefined ? !isWorkflow(written) : !isNamed(written)) {
    if (kind === undefined && !isMeantAsWorkflow(written)) return {};
    const place = placeIn(document, lines, kind === undefined ? 'nodes' : 'kind');
    const detail =
      kind === undefined ? 'a workflow needs a name and a list of nodes' : `a file of the kind ${kind} needs a name`;
    return { wrong: [{ path: shown, detail, place }] };
  }
  if (!isUtf8(bytes)) return wrongWith('is not UTF-8');
  if (document.errors.length > 0) return wrongWith(`has several documents; a file has one ${kind ?? 'workflow'}`);
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
  const locateIn = (member: string): FilePosition | undefined => placeIn(document, lines, member);
  const definition = withoutKind(document.toJS()) as DefinitionFile['definition'];
  const file = { path: shown, definition, written: withoutKind(written), locateMember: locateIn };
  return { file: kind === undefined ? file : { ...file, kind } };
}

/** Returns the kind of object that a file has; `undefined` for a workflow, and for a file of another tool. */
function kindIn(value: unknown): string | undefined {
  return isJsonObject(value) && typeof value['kind'] === 'string' ? objectKind(value['kind'])?.kind : undefined;
}

function withoutKind(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { kind: _kind, ...rest } = value;
  return rest;
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

function isNamed(value: unknown): boolean {
  return isJsonObject(value) && typeof value['name'] === 'string';
}

function isWorkflow(value: unknown): boolean {
  return isNamed(value) && isJsonObject(value) && Array.isArray(value['nodes']) && isKindOfWorkflow(value);
}

/** True if the `kind` of a file is `workflow` or absent. */
function isKindOfWorkflow({ kind = 'workflow' }: Record<string, unknown>): boolean {
  return kind === 'workflow';
}

/** True if the author of an invalid file meant a workflow: the file has `nodes`, `edges` or the kind `workflow`. */
function isMeantAsWorkflow(value: unknown): boolean {
  return isJsonObject(value) && ('nodes' in value || 'edges' in value || value['kind'] === 'workflow');
}

function findRepeated(files: readonly ScannedFile[]): WrongFile[] {
  const first = new Map<string, string>();
  return files.flatMap(({ path, kind = 'workflow', definition }) => {
    const name = objectName(kind, definition);
    const key = `${kind}/${name}`;
    const before = first.get(key);
    if (before === undefined) first.set(key, path);
    const article = /^[aeiou]/.test(kind) ? 'an' : 'a';
    return before === undefined ? [] : [{ path, detail: `${before} is ${article} ${kind} "${name}" as well` }];
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
