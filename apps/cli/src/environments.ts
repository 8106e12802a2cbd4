import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isJsonObject, tryParseJson } from '#libs/protocol';
import { CommandError } from './exit-code.js';
import type { Session } from './session.js';

/** Folder with the values of environments, inside the folder of the files. */
export const ENVIRONMENTS = 'environments';

/** Options of commands that read a folder of files. */
export interface FolderOptions {
  folder: string;
  /** Name of the environment whose values are filled in. */
  env?: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns the values of variables for the files of a folder. With `--env NAME`, the values of `environments/NAME.json`
 * take precedence over the environment variables of this process.
 * @throws CommandError if the environment does not exist, or its file is not an object of texts
 */
export function folderVariables(
  { terminal }: Session,
  { folder, env: name }: FolderOptions,
): Readonly<Record<string, string | undefined>> {
  if (name === undefined) return terminal.env;
  if (!NAME.test(name)) throw new CommandError(`--env ${name}: must be letters, digits, underscores or hyphens`);
  const root = /\.(ya?ml|json)$/i.test(folder) ? dirname(folder) : folder;
  const path = join(root, ENVIRONMENTS, `${name}.json`);
  const shown = relative('.', path) || path;
  if (!existsSync(path)) throw new CommandError(`--env ${name}: ${shown} does not exist`);
  const values = tryParseJson(readFileSync(path, 'utf8'));
  if (!isJsonObject(values)) throw new CommandError(`${shown}: must be a JSON object of names and texts`);
  for (const [variable, value] of Object.entries(values)) {
    if (!VARIABLE.test(variable)) throw new CommandError(`${shown}: "${variable}" is no name of a variable`);
    if (typeof value !== 'string') throw new CommandError(`${shown}: ${variable} must be a text`);
  }
  return { ...terminal.env, ...(values as Record<string, string>) };
}
