import type { Command } from 'commander';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Schemas } from '#libs/client';
import { briefText, isJsonObject } from '#libs/protocol';
import { applyFiles, describeApplied } from '../apply.js';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import { FolderState } from '../folder-state.js';
import {
  type DefinitionFormat,
  definitionText,
  keepReferences,
  readFormat,
  type SavedWorkflow,
  savedWorkflows,
} from '../saved-workflows.js';
import type { Session } from '../session.js';
import { readWorkflowFiles, shownPlace, type WorkflowFile } from '../workflow-files.js';

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

interface FolderOptions {
  folder: string;
}

interface ExportOptions extends FolderOptions {
  format?: string;
}

interface ApplyOptions extends FolderOptions {
  prune?: boolean;
  dryRun?: boolean;
  force?: boolean;
  adopt?: boolean;
}

/** Adds the commands `check`, `schema`, `diff`, `apply` and `export`, for workflows in files. */
export function addFileCommands(program: Command, session: Session): void {
  const folder = ['-f, --folder <folder>', 'the folder of the files, or one file', 'workflows'] as const;
  program
    .command('check')
    .description('report problems of the files, without a service; exit code 2 if there are any')
    .option(...folder)
    .addHelpText('after', exampleText('parley check', 'parley check -f workflows/greeting.yaml --json'))
    .action(async (options: FolderOptions) => (await import('../check.js')).checkFolder(session, options));
  program
    .command('schema')
    .description('print the JSON Schema of workflows, for editors')
    .addHelpText('after', exampleText('parley schema > workflow.schema.json'))
    .action(async () => (await import('../check.js')).printSchema(session));
  program
    .command('diff')
    .description('show how the service differs from the files; exit code 2 if it does')
    .option(...folder)
    .addHelpText(
      'after',
      exampleText('parley diff', 'parley diff -f workflows/greeting.yaml --url https://parley.example'),
    )
    .action((options: FolderOptions) => showDifferences(session, options));
  program
    .command('apply')
    .description('save the workflows of the files, all or none')
    .option(...folder)
    .option('--prune', 'delete workflows applied from this folder earlier that no file contains any longer')
    .option('--dry-run', 'report the changes without applying them; exit code 2 if there are any')
    .option('--adopt', 'also replace workflows that were never applied from this folder')
    .option('--force', 'also replace workflows that others changed since; includes --adopt')
    .addHelpText(
      'after',
      exampleText('parley apply --dry-run', 'parley apply --prune', 'parley apply -f flows/ --json'),
    )
    .action((options: ApplyOptions) => applyFolder(session, options));
  program
    .command('export')
    .argument('[workflow...]', 'names; default: all')
    .description('write workflows of the service into files')
    .option('-f, --folder <folder>', 'folder to write to', 'workflows')
    .option('--format <format>', 'of new files: yaml, or json (default: yaml)')
    .addHelpText('after', exampleText('parley export', 'parley export greeting --format json'))
    .action((names: string[], options: ExportOptions) => exportFiles(session, names, options));
}

async function showDifferences(session: Session, { folder }: FolderOptions): Promise<void> {
  const { terminal, url } = session;
  const files = readWorkflowFiles(folder, terminal.env);
  const saved = await savedByName(session);
  const planned = await applyFiles(session, files, { dryRun: true });
  const changes = planned.workflows
    .filter(({ action }) => action !== 'unchanged')
    .map(({ name, action }) => ({ name, action, differences: differencesOf(files, saved, name) }));
  if (changes.length > 0) session.code = EXIT.differs;
  terminal.writeResult({ workflows: changes }, () =>
    files.length === 0
      ? noWorkflows(folder)
      : changes.length === 0
        ? `No differences: the workflows at ${url} match the files of ${folder}.`
        : changes
            .map(({ name, action, differences: found }) => describeDifferences(session, name, action, found))
            .join('\n'),
  );
}

function differencesOf(
  files: readonly WorkflowFile[],
  saved: ReadonlyMap<string, SavedWorkflow>,
  name: string,
): Difference[] {
  const file = files.find(({ definition }) => definition.name === name);
  const held = saved.get(name);
  return file && held ? findDifferences(definitionOf(held), fillDefaults(file.definition)) : [];
}

function describeDifferences(
  { terminal }: Session,
  name: string,
  action: string,
  found: readonly Difference[],
): string {
  const words: Record<string, string> = {
    created: 'is only in the files',
    updated: 'differs',
    deleted: 'is not in the files',
  };
  const lines = found.flatMap(({ path, before, after }) => [
    `  ${path}`,
    ...(before === undefined ? [] : [terminal.paintText('red', `    - ${shortJson(before)}`)]),
    ...(after === undefined ? [] : [terminal.paintText('green', `    + ${shortJson(after)}`)]),
  ]);
  return [`${terminal.paintText('bold', name)} ${words[action] ?? action}`, ...lines].join('\n');
}

function shortJson(value: unknown): string {
  return briefText(JSON.stringify(value), 160);
}

async function applyFolder(session: Session, options: ApplyOptions): Promise<void> {
  const { terminal, url } = session;
  if (options.prune && isFile(options.folder))
    throw new CommandError(`--prune needs the whole folder: ${options.folder} is a single file`);
  const files = readWorkflowFiles(options.folder, terminal.env);
  const state = new FolderState(folderOf(options.folder), url);
  const answer = await applyFiles(session, files, {
    ...options,
    adopt: options.adopt ?? false,
    mark: state.readMark(),
    seen: state.readSeen(),
  });
  const changed = answer.workflows.some(({ action }) => action !== 'unchanged');
  if (options.dryRun && changed) session.code = EXIT.differs;
  if (!options.dryRun) state.recordSeen(new Map(answer.workflows.map(({ name, revision }) => [name, revision])));
  terminal.writeResult({ workflows: answer.workflows.map(({ name, action }) => ({ name, action })) }, () =>
    answer.workflows.length === 0
      ? noWorkflows(options.folder)
      : describeApplied(session, answer.workflows, options.dryRun),
  );
}

async function exportFiles(
  session: Session,
  names: readonly string[],
  { folder, format: wantedFormat }: ExportOptions,
): Promise<void> {
  const format = readFormat(wantedFormat);
  const saved = await savedByName(session);
  const unknown = names.filter((name) => !saved.has(name));
  if (unknown.length > 0) throw new CommandError(`${session.url} has no workflow ${unknown.join(', ')}`, EXIT.failed);
  const wanted = [...saved.values()].filter(({ name }) => names.length === 0 || names.includes(name));
  const known = new Map(readExisting(folder, session).map((file) => [file.definition.name, file]));
  const written = wanted.map((view) => {
    const file = known.get(view.name);
    const path = file?.path ?? join(folder, `${view.name}.${format ?? 'yaml'}`);
    const written = /\.json$/i.test(path) ? 'json' : 'yaml';
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, definitionText(exportDefinition(session, view, file), written));
    if (written !== (format ?? written))
      session.terminal.writeNote(`${path}: ${view.name} stays in its file, as ${written}`);
    return { name: view.name, path };
  });
  new FolderState(folder, session.url).recordSeen(new Map(wanted.map(({ name, revision }) => [name, revision])));
  session.terminal.writeResult({ workflows: written }, () =>
    written.length === 0
      ? `${session.url} has no workflows.`
      : written.map(({ name, path }) => `${name} → ${path}`).join('\n'),
  );
}

/** Returns a saved workflow as its file should contain it, with the file's references to variables. */
function exportDefinition({ terminal }: Session, view: SavedWorkflow, file: WorkflowFile | undefined): unknown {
  const saved = definitionOf(view);
  if (!file) return saved;
  const { definition, replaced } = keepReferences(saved, file.written, file.definition);
  for (const member of replaced)
    terminal.writeNote(`${shownPlace(file, member)}: the value at the service differs from the variable in the file`);
  return definition;
}

/** Reads the existing files of a folder, which an export overwrites. @throws CommandError if one is invalid */
function readExisting(folder: string, { terminal }: Session): WorkflowFile[] {
  return existsSync(folder) ? readWorkflowFiles(folder, terminal.env) : [];
}

function noWorkflows(folder: string): string {
  return `There are no workflows in ${folder}.`;
}

async function savedByName(session: Session): Promise<Map<string, SavedWorkflow>> {
  return new Map((await savedWorkflows(session)).map((view) => [view.name, view]));
}

/** Returns a saved workflow without the members that only the service sets. */
function definitionOf(view: SavedWorkflow): Record<string, unknown> {
  const { revision: _revision, createdAt: _created, updatedAt: _updated, ...definition } = view;
  return { ...definition };
}

/** Returns a file's definition with the defaults that the service fills in. */
function fillDefaults(definition: Record<string, unknown>): Record<string, unknown> {
  const nodes = (definition['nodes'] as Record<string, unknown>[]).map((node) => ({ config: {}, ...node }));
  return { edges: [], ...definition, nodes };
}

function folderOf(where: string): string {
  return isFile(where) ? dirname(where) : where;
}

function isFile(where: string): boolean {
  return /\.(ya?ml|json)$/i.test(where);
}

type Generated = Schemas['GeneratedWorkflow'];

interface GenerateOptions {
  model?: string;
  name?: string;
  current?: string;
  format?: string;
}

/** Adds the command `generate`, with which a model writes a workflow from a description. */
export function addGenerate(program: Command, session: Session): void {
  program
    .command('generate')
    .argument('<text>', 'description of the workflow')
    .description('print a workflow written by a model; exit code 2 if it has errors')
    .option('-m, --model <model>', 'model to use')
    .option('--name <name>', 'the name of the workflow')
    .option('-c, --current <file>', 'file with the workflow to change')
    .option('--format <format>', 'yaml, or json (default: yaml)')
    .addHelpText(
      'after',
      exampleText(
        'parley generate "Summarize a text" > workflows/summary.yaml',
        'parley generate "Ask a person first" -c workflows/summary.yaml',
      ),
    )
    .action((description: string, options: GenerateOptions) => generateWorkflow(session, description, options));
}

async function generateWorkflow(session: Session, description: string, options: GenerateOptions): Promise<void> {
  const { client, terminal, signal } = session;
  const { model, name, current } = options;
  const format: DefinitionFormat = readFormat(options.format) ?? 'yaml';
  const body = {
    description,
    ...(model !== undefined && { model }),
    ...(name !== undefined && { name }),
    ...(current !== undefined && { current: definitionIn(current, session) }),
  };
  const written = await client.call<Generated>('/api/generate', { method: 'POST', body, signal });
  for (const { severity, path, detail } of written.problems)
    terminal.writeNote(`${path === '' ? 'workflow' : path}: ${severity === 'warning' ? 'warning: ' : ''}${detail}`);
  if (written.problems.some(({ severity }) => severity === 'error')) session.code = EXIT.differs;
  terminal.writeResult(written, () => terminal.stripControls(definitionText(written.workflow, format).trimEnd()));
}

/** Reads the workflow of a file. @throws CommandError for a file without a workflow, or a folder of several */
function definitionIn(path: string, { terminal }: Session): Record<string, unknown> {
  const [file, ...others] = readWorkflowFiles(path, terminal.env);
  if (file && others.length === 0) return file.definition;
  throw new CommandError(`--current ${path}: must be a file with one workflow`);
}
