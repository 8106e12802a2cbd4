import type { components } from '#libs/client';
import type { Command } from 'commander';
import { type DefinitionFormat, definitionText, readFormat } from '../definition-text.js';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import type { Session } from '../session.js';
import { readWorkflowFiles } from '../workflow-files.js';

type Generated = components['schemas']['GeneratedWorkflow'];

interface GenerateOptions {
  model?: string;
  name?: string;
  current?: string;
  format?: string;
}

/** Adds `generateWorkflow`: a workflow from a description. */
export function addGenerate(program: Command, session: Session): void {
  program
    .command('generate')
    .argument('<text>', 'what the workflow does')
    .description('print a workflow that a model writes; 2 where it has errors')
    .option('-m, --model <model>', 'the model that writes it')
    .option('--name <name>', 'the name of the workflow')
    .option('-c, --current <file>', 'change the workflow of this file')
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
