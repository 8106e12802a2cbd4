import type { Command } from 'commander';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exampleText } from '../examples.js';
import { CommandError } from '../exit-code.js';
import { packageFolder } from '../package-version.js';
import { programName } from '../program-name.js';
import type { Session } from '../session.js';

/** Adds the command `init`, which creates a folder of workflows from a template. */
export function addInit(program: Command, session: Session): void {
  program
    .command('init')
    .argument('[template]', 'template; without it the templates are listed')
    .description('write the workflows of a template into a folder')
    .option('-f, --folder <folder>', 'folder to write to', 'workflows')
    .option('--list', 'list the templates, and write nothing')
    .addHelpText('after', exampleText('parley init --list', 'parley init approval'))
    .action((template: string | undefined, { folder, list }: { folder: string; list?: boolean }) =>
      initFolder(session, list ? undefined : template, folder),
    );
}

/**
 * Template of `parley init`: a folder of the examples with one workflow. Its other JSON files are scripts of agents
 * that the workflow calls.
 */
interface InitTemplate {
  name: string;
  file: string;
  workflow: Workflow;
  scripts: string[];
}

interface Workflow {
  description?: string;
  nodes: { id: string; type: string; config?: { schema?: { type?: string }; default?: unknown; optional?: boolean } }[];
}

function initFolder({ terminal }: Session, wanted: string | undefined, folder: string): void {
  const templates = readdirSync(templatesFolder(), { withFileTypes: true })
    .filter((it) => it.isDirectory())
    .flatMap(({ name }) => templateIn(name) ?? []);
  if (wanted === undefined) {
    const list = templates.map(({ name, workflow: { description = '' } }) => ({ name, description }));
    terminal.writeResult({ templates: list }, () =>
      terminal.formatTable(
        ['TEMPLATE', 'WHAT IT DOES'],
        list.map(({ name, description }) => [name, description]),
      ),
    );
    return;
  }
  const template = templates.find(({ name }) => name === wanted);
  if (!template) {
    const names = templates.map(({ name }) => name).join(', ');
    throw new CommandError(`There is no template "${wanted}"; there are ${names}`);
  }
  const files = copyTemplate(template, folder);
  const program = programName(terminal.env);
  terminal.writeResult({ files }, () => [...files, '', ...nextSteps(template, folder, program)].join('\n'));
}

function templateIn(name: string): InitTemplate | undefined {
  const files = readdirSync(join(templatesFolder(), name)).filter((file) => file.endsWith('.json'));
  for (const file of files) {
    const workflow = JSON.parse(readFileSync(join(templatesFolder(), name, file), 'utf8')) as Partial<Workflow>;
    if (isWorkflow(workflow)) return { name, file, workflow, scripts: files.filter((it) => it !== file) };
  }
  return undefined;
}

function isWorkflow(value: Partial<Workflow>): value is Workflow {
  return value.nodes !== undefined;
}

/**
 * Copies the files of a template into a folder, and returns their new paths. A file that exists with the same content
 * stays as it is.
 * @throws CommandError if one of the files exists with other content; nothing is written then
 */
function copyTemplate({ name, file, scripts }: InitTemplate, folder: string): string[] {
  const copies = [
    // The file is named after its template, so several templates fit in one folder.
    { from: file, to: join(folder, `${name}.json`) },
    ...scripts.map((script) => ({ from: script, to: scriptPath(script, folder) })),
  ];
  const missing = copies.filter(({ to }) => !existsSync(to));
  const others = copies.filter((copy) => !missing.includes(copy) && !hasSameContent(name, copy));
  if (others.length > 0) throw new CommandError(`${others.map(({ to }) => to).join(', ')}: already there`);
  for (const { from, to } of missing) {
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(templatesFolder(), name, from), to);
  }
  return copies.map(({ to }) => to);
}

function hasSameContent(template: string, { from, to }: { from: string; to: string }): boolean {
  const isFile = statSync(to).isFile();
  return isFile && readFileSync(join(templatesFolder(), template, from)).equals(readFileSync(to));
}

function scriptPath(script: string, folder: string): string {
  return join(folder, 'agents', script);
}

/** Ports of the script agents that a template's workflow calls. */
const PORTS: Readonly<Record<string, number>> = { 'researcher.json': 4001, 'critic.json': 4002 };

/**
 * Returns the command lines that a user may enter next.
 * @param program words that start this program
 */
function nextSteps({ name, workflow, scripts }: InitTemplate, folder: string, program: string): string[] {
  const where = folder === 'workflows' ? '' : ` -f ${folder}`;
  const agents = scripts.map(
    (it) => `  ${program} agent --script ${scriptPath(it, folder)} --port ${PORTS[it] ?? 4001}`,
  );
  const commands = [`  ${program} dev${where}`, ...agents, `  ${program} run ${name}${inputFlags(workflow)} --follow`];
  return ['Next, each in a separate terminal:', ...commands];
}

function inputFlags({ nodes }: Workflow): string {
  const needed = nodes.filter(
    ({ type, config }) => type === 'input' && config?.default === undefined && config?.optional !== true,
  );
  return needed.map(({ id, config }) => ` -i ${exampleOf(id, config?.schema?.type)}`).join('');
}

function exampleOf(id: string, type = 'string'): string {
  return type === 'string' ? `${id}='…'` : `${id}:='${type === 'object' ? '{…}' : '…'}'`;
}

function templatesFolder(): string {
  return join(packageFolder(), 'examples');
}
