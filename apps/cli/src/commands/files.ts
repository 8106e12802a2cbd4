import type { Command } from 'commander';
import { dirname } from 'node:path';
import type { Schemas } from '#libs/client';
import { appliedRevisions, applyFiles, changedOutcomes, describeApplied, plainOutcomes } from '../apply.js';
import { type FolderOptions, folderVariables } from '../environments.js';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import { noDefinitions, showDifferences } from '../folder-diff.js';
import { exportFiles, type ExportOptions } from '../folder-export.js';
import { FolderState } from '../folder-state.js';
import { type DefinitionFormat, definitionText, readFormat } from '../saved-workflows.js';
import type { Session } from '../session.js';
import { readFolder } from '../workflow-files.js';

interface ApplyOptions extends FolderOptions {
  prune?: boolean;
  dryRun?: boolean;
  force?: boolean;
  adopt?: boolean;
}

/** Adds the commands `check`, `schema`, `diff`, `apply` and `export`, for workflows in files. */
export function addFileCommands(program: Command, session: Session): void {
  const folder = ['-f, --folder <folder>', 'the folder of the files, or one file', 'workflows'] as const;
  const environment = ['-e, --env <name>', 'fill in the values of environments/<name>.json in the folder'] as const;
  program
    .command('check')
    .description('report problems of the files, without a service; exit code 2 if there are any')
    .option(...folder)
    .option(...environment)
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
    .option(...environment)
    .addHelpText(
      'after',
      exampleText('parley diff', 'parley diff -f workflows/greeting.yaml --url https://parley.example'),
    )
    .action((options: FolderOptions) => showDifferences(session, options));
  program
    .command('apply')
    .description('save the workflows and objects of the files, all or none')
    .option(...folder)
    .option(...environment)
    .option('--prune', 'delete what was applied from this folder earlier and is in no file any longer')
    .option('--dry-run', 'report the changes without applying them; exit code 2 if there are any')
    .option('--adopt', 'also replace what was never applied from this folder')
    .option('--force', 'also replace what others changed since; includes --adopt')
    .addHelpText(
      'after',
      exampleText('parley apply --dry-run', 'parley apply --prune', 'parley apply -f flows/ --json'),
    )
    .action((options: ApplyOptions) => applyFolder(session, options));
  program
    .command('export')
    .argument('[name...]', 'names of workflows, or kind/name, such as agent/translator; default: all')
    .description('write workflows and objects of the service into files')
    .option('-f, --folder <folder>', 'folder to write to', 'workflows')
    .option(...environment)
    .option('--format <format>', 'of new files: yaml, or json (default: yaml)')
    .addHelpText('after', exampleText('parley export', 'parley export greeting agent/translator --format json'))
    .action((names: string[], options: ExportOptions) => exportFiles(session, names, options));
}

async function applyFolder(session: Session, options: ApplyOptions): Promise<void> {
  const { terminal, url } = session;
  if (options.prune && isFile(options.folder))
    throw new CommandError(`--prune needs the whole folder: ${options.folder} is a single file`);
  const content = readFolder(options.folder, folderVariables(session, options));
  const state = new FolderState(folderOf(options.folder), url);
  const answer = await applyFiles(session, content, {
    ...options,
    adopt: options.adopt ?? false,
    mark: state.readMark(),
    seen: state.readSeen(),
  });
  const { workflows, objects = [] } = changedOutcomes(answer);
  if (options.dryRun && workflows.length + objects.length > 0) session.code = EXIT.differs;
  if (!options.dryRun) state.recordSeen(appliedRevisions(answer));
  terminal.writeResult(plainOutcomes(answer), () =>
    answer.workflows.length + (answer.objects?.length ?? 0) === 0
      ? noDefinitions(options.folder)
      : describeApplied(session, answer, options.dryRun),
  );
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

/** Adds the command `generate`, which has a model write a workflow from a description. */
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
  const [file, ...others] = readFolder(path, terminal.env).workflows;
  if (file && others.length === 0) return file.definition;
  throw new CommandError(`--current ${path}: must be a file with one workflow`);
}
