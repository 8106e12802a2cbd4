import { isJsonObject, briefText } from '#libs/protocol';
import { applyFiles, changedOutcomes } from './apply.js';
import { type FolderOptions, folderVariables } from './environments.js';
import { EXIT } from './exit-code.js';
import { objectKind, savedObjects } from './object-kinds.js';
import { definitionOf, savedByName } from './saved-workflows.js';
import type { Session } from './session.js';
import { type FolderContent, readFolder } from './workflow-files.js';

/** Difference between two JSON values. */
interface Difference {
  /** Path of the value, for example `nodes[1].config.prompt`. */
  path: string;
  /** Value before; absent if the path was added. */
  before?: unknown;
  /** Value after; absent if the path was removed. */
  after?: unknown;
}

/** Returns the differences of two values. Nodes and edges are compared by position, objects by member. */
function findDifferences(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      findDifferences(before[index], after[index], `${path}[${index}]`),
    ).flat();
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      findDifferences(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** Shows how the service differs from the files of a folder. */
export async function showDifferences(session: Session, options: FolderOptions): Promise<void> {
  const { terminal, url } = session;
  const { folder } = options;
  const content = readFolder(folder, folderVariables(session, options));
  const [saved, files] = [await savedDefinitions(session, content), definitionsIn(content)];
  const { workflows, objects = [] } = changedOutcomes(await applyFiles(session, content, { dryRun: true }));
  const differencesOf = (key: string): Difference[] => {
    const [before, after] = [saved.get(key), files.get(key)];
    return before && after ? findDifferences(before, after) : [];
  };
  const changes = {
    objects: objects.map(({ kind, name, action }) => {
      const differences = differencesOf(`${kind} ${name}`);
      const isHidden = action === 'updated' && differences.length === 0;
      return { kind, name, action, differences: isHidden ? secretDifference(content, kind, name) : differences };
    }),
    workflows: workflows.map(({ name, action }) => ({ name, action, differences: differencesOf(name) })),
  };
  const lines = [
    ...changes.objects.map(({ kind, name, ...it }) =>
      describeDifferences(session, { ...it, title: `${kind} ${name}` }),
    ),
    ...changes.workflows.map(({ name, ...it }) => describeDifferences(session, { ...it, title: name })),
  ];
  if (lines.length > 0) session.code = EXIT.differs;
  const { objects: changedObjects, ...rest } = changes;
  terminal.writeResult({ ...rest, ...(changedObjects.length > 0 && { objects: changedObjects }) }, () =>
    files.size === 0
      ? noDefinitions(folder)
      : lines.length === 0
        ? `No differences: ${describeContent(content)} at ${url} match the files of ${folder}.`
        : lines.join('\n'),
  );
}

/**
 * Returns one difference with the path of an object's secret and no values, or none if the object's kind has no secret.
 * Called if the service reports that applying would update the object, although all values that it returns are equal:
 * only the secret, which the service never returns, can differ.
 */
function secretDifference({ objects }: FolderContent, kind: string, name: string): Difference[] {
  const definition = objects.find((it) => it.kind === kind && it.name === name)?.definition;
  const path = definition && objectKind(kind)?.secretOf?.(definition);
  return path === undefined ? [] : [{ path }];
}

export function noDefinitions(folder: string): string {
  return `There are no workflows in ${folder}.`;
}

function describeContent({ workflows, objects }: FolderContent): string {
  if (objects.length === 0) return 'the workflows';
  return workflows.length === 0 ? 'the objects' : 'the workflows and objects';
}

/**
 * Returns the definitions that the service has: every workflow under its name, and objects under `kind name`. The kinds
 * of objects are those of which the folder has at least one file.
 */
async function savedDefinitions(
  session: Session,
  { objects }: FolderContent,
): Promise<Map<string, Record<string, unknown>>> {
  const found = new Map<string, Record<string, unknown>>();
  for (const view of (await savedByName(session)).values()) found.set(view.name, definitionOf(view));
  for (const name of new Set(objects.map(({ kind }) => kind))) {
    const kind = objectKind(name);
    const saved = kind && (await savedObjects(session, kind));
    for (const it of saved ?? []) found.set(`${name} ${it.name}`, it.definition);
  }
  return found;
}

/**
 * Returns the definitions in the files, with the defaults that the service fills in: workflows by name, objects by
 * `kind name`.
 */
function definitionsIn({ workflows, objects }: FolderContent): Map<string, Record<string, unknown>> {
  return new Map([
    ...workflows.map(({ definition }) => [definition.name, fillDefaults(definition)] as const),
    ...objects.map(({ kind, name, definition }) => {
      const filled = objectKind(kind)?.fillDefaults(definition) ?? definition;
      return [`${kind} ${name}`, filled] as const;
    }),
  ]);
}

function describeDifferences(
  { terminal }: Session,
  { title, action, differences }: { title: string; action: string; differences: readonly Difference[] },
): string {
  const words: Record<string, string> = {
    created: 'is only in the files',
    updated: 'differs',
    deleted: 'is not in the files',
  };
  const lines = differences.flatMap(({ path, before, after }) => [
    `  ${path}`,
    ...(before === undefined ? [] : [terminal.paintText('red', `    - ${shortJson(before)}`)]),
    ...(after === undefined ? [] : [terminal.paintText('green', `    + ${shortJson(after)}`)]),
  ]);
  return [`${terminal.paintText('bold', title)} ${words[action] ?? action}`, ...lines].join('\n');
}

function shortJson(value: unknown): string {
  return briefText(JSON.stringify(value), 160);
}

/** Returns a workflow's definition with the defaults that the service fills in. */
function fillDefaults(definition: Record<string, unknown>): Record<string, unknown> {
  const nodes = (definition['nodes'] as Record<string, unknown>[]).map((node) => ({ config: {}, ...node }));
  return { edges: [], ...definition, nodes };
}
