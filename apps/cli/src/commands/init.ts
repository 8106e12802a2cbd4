import type { Command } from 'commander';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../exit-code.js';
import { packageFolder } from '../package-version.js';
import type { Session } from '../session.js';

/** `init`: a folder of workflows to begin with. */
export function addInit(program: Command, session: Session): void {
  program
    .command('init')
    .argument('[template]', 'what to begin with; without it the templates are listed')
    .description('write the workflows of a template into a folder')
    .option('-f, --folder <folder>', 'where to', 'workflows')
    .action((template: string | undefined, { folder }: { folder: string }) => init(session, template, folder));
}

function init({ terminal }: Session, template: string | undefined, folder: string): void {
  const templates = new Map(
    readdirSync(examples(), { withFileTypes: true })
      .filter((it) => it.isDirectory())
      .map(({ name }) => [name, describe(name)]),
  );
  if (template === undefined) {
    const list = [...templates].map(([name, description]) => ({ name, description }));
    terminal.result({ templates: list }, () =>
      terminal.table(
        ['TEMPLATE', 'WHAT IT DOES'],
        list.map(({ name, description }) => [name, description]),
      ),
    );
    return;
  }
  if (!templates.has(template)) {
    throw new CommandError(`There is no template "${template}"; there are ${[...templates.keys()].join(', ')}`);
  }
  const written = copy(template, folder);
  terminal.result({ files: written }, () =>
    [...written, '', 'Next: `parley dev` in one terminal, `parley apply` and `parley run` in another.'].join('\n'),
  );
}

/** @throws CommandError before anything is written, where a file is there already */
function copy(template: string, folder: string): string[] {
  const from = join(examples(), template);
  const names = readdirSync(from).filter((name) => name.endsWith('.json') || name.endsWith('.yaml'));
  // One that is alone is called like its template: another template goes beside it.
  const targets = names.map((name) => join(folder, name.replace(/^workflow(?=\.)/, template)));
  const there = targets.filter((path) => existsSync(path));
  if (there.length > 0) throw new CommandError(`${there.join(', ')}: there already`);
  mkdirSync(folder, { recursive: true });
  names.forEach((name, index) => cpSync(join(from, name), targets[index] ?? ''));
  return targets;
}

function describe(template: string): string {
  const folder = join(examples(), template);
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.json')) continue;
    const { description } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { description?: string };
    if (description !== undefined) return description;
  }
  return '';
}

function examples(): string {
  return join(packageFolder(), 'examples');
}
