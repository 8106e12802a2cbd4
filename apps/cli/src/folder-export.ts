import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FolderOptions, folderVariables } from './environments.js';
import { CommandError, EXIT } from './exit-code.js';
import { FolderState } from './folder-state.js';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { objectKey, objectKind, type ObjectKind, OBJECT_KINDS, savedObjects } from './object-kinds.js';
import {
  definitionOf,
  definitionText,
  type DefinitionFormat,
  keepReferences,
  readFormat,
  savedByName,
} from './saved-workflows.js';
import type { Session } from './session.js';
import { type DefinitionFile, readFolder, shownPlace } from './workflow-files.js';

export interface ExportOptions extends FolderOptions {
  format?: string;
}

/** Definition to export, with the file that it gets. */
interface ExportItem {
  /** Kind of an object; absent for a workflow. */
  kind?: string;
  name: string;
  /** Key of the definition in FolderState: the name of a workflow, or `objectKey`. */
  key: string;
  revision: string;
  definition: unknown;
  /** Path in the folder, without its ending, for a new file. Used if no file has the definition yet. */
  newPath: string;
}

/**
 * Writes workflows and objects of the service into files: each into the file of the folder that already has it, or into
 * a new file.
 * @param names names to export, of workflows or as `kind/name`; empty: everything that the caller may read
 */
export async function exportFiles(session: Session, names: readonly string[], options: ExportOptions): Promise<void> {
  const { terminal, url } = session;
  const { folder } = options;
  const format = readFormat(options.format);
  const wanted = await itemsToExport(session, names);
  const known = existingFiles(session, options);
  const written = wanted.map((item) => {
    const path = writeItem(session, item, { folder, file: known.get(item.key), format });
    return { ...(item.kind !== undefined && { kind: item.kind }), name: item.name, path };
  });
  new FolderState(folder, url).recordSeen(new Map(wanted.map(({ key, revision }) => [key, revision])));
  const result = {
    workflows: written.filter(({ kind }) => kind === undefined),
    ...(written.some(({ kind }) => kind !== undefined) && {
      objects: written.filter(({ kind }) => kind !== undefined),
    }),
  };
  terminal.writeResult(result, () =>
    written.length === 0
      ? `${url} has no workflows.`
      : written.map(({ kind, name, path }) => `${kind === undefined ? '' : `${kind} `}${name} → ${path}`).join('\n'),
  );
}

async function itemsToExport(session: Session, names: readonly string[]): Promise<ExportItem[]> {
  const { url, terminal } = session;
  const items: ExportItem[] = [...(await savedByName(session)).values()].map((view) => {
    const { name, revision } = view;
    return { name, key: name, revision, definition: definitionOf(view), newPath: name };
  });
  for (const kind of OBJECT_KINDS.filter((it) => names.length === 0 || names.some((name) => isOfKind(name, it.kind)))) {
    const saved = await savedObjects(session, kind);
    if (!saved) terminal.writeNote(`The ${kind.plural} of ${url} are not exported: this caller cannot list them`);
    for (const { name, definition, revision } of saved ?? []) {
      const full = { kind: kind.kind, ...definition, ...secretReference(kind, name, definition) };
      const newPath = join(kind.member, name);
      items.push({ kind: kind.kind, name, key: objectKey(kind.kind, name), revision, definition: full, newPath });
    }
  }
  const unknown = names.filter((name) => !items.some(({ key }) => key === name));
  if (unknown.length > 0) throw new CommandError(`${url} has no workflow ${unknown.join(', ')}`, EXIT.failed);
  return items.filter(({ key }) => names.length === 0 || names.includes(key));
}

/**
 * Returns an object with the one member that holds a secret, such as `{ token: '${env:CRM_TOKEN}' }`; `{}` if the kind
 * has no secret. The value is a reference to a variable, because the service returns no secrets.
 */
function secretReference(kind: ObjectKind, name: string, definition: JsonObject): JsonObject {
  const member = kind.secretOf?.(definition);
  if (member === undefined) return {};
  const words = `${name}_${member.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase().replaceAll('-', '_');
  return { [member]: `\${env:${/^\d/.test(words) ? '_' : ''}${words}}` };
}

function isOfKind(name: string, kind: string): boolean {
  return name.startsWith(objectKey(kind, ''));
}

/** Writes an item to its file. @returns the path of the file */
function writeItem(
  { terminal }: Session,
  item: ExportItem,
  { folder, file, format }: { folder: string; file: DefinitionFile | undefined; format: DefinitionFormat | undefined },
): string {
  const path = file?.path ?? join(folder, `${item.newPath}.${format ?? 'yaml'}`);
  const written = /\.json$/i.test(path) ? 'json' : 'yaml';
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, definitionText(withReferences(terminal, item, file), written));
  if (written !== (format ?? written)) terminal.writeNote(`${path}: ${item.name} stays in its file, as ${written}`);
  return path;
}

/** Returns a saved definition as its file should contain it, with the file's references to variables. */
function withReferences(
  terminal: Session['terminal'],
  { definition: saved, kind }: ExportItem,
  file: DefinitionFile | undefined,
): unknown {
  if (!file) return saved;
  const secret = kind === undefined ? undefined : objectKind(kind)?.secretOf?.(file.definition);
  const written = isJsonObject(file.written) ? file.written : {};
  // The service returns no secret: the file keeps its own.
  const keeps = secret !== undefined && isJsonObject(saved) && secret in saved && secret in written;
  const definition = keeps ? { ...saved, [secret]: file.definition[secret] } : saved;
  const kept = keepReferences(definition, file.written, file.definition);
  for (const member of kept.replaced)
    terminal.writeNote(`${shownPlace(file, member)}: the value at the service differs from the variable in the file`);
  return kept.definition;
}

/** Reads the existing files of a folder, which an export overwrites, by key. @throws CommandError if one is invalid */
function existingFiles(session: Session, options: ExportOptions): Map<string, DefinitionFile> {
  if (!existsSync(options.folder)) return new Map();
  const { workflows, objects } = readFolder(options.folder, folderVariables(session, options));
  return new Map([
    ...workflows.map((file) => [file.definition.name, file] as const),
    ...objects.map((file) => [objectKey(file.kind, file.name), file] as const),
  ]);
}
