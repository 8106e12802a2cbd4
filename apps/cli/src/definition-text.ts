import { stringify } from 'yaml';
import { CommandError } from './exit-code.js';

export type DefinitionFormat = 'yaml' | 'json';

/** Parses a format that a person named, if any. @throws CommandError for an unknown format */
export function readFormat(format: string | undefined): DefinitionFormat | undefined {
  if (format === undefined || format === 'yaml' || format === 'json') return format;
  throw new CommandError(`--format ${format}: must be yaml or json`);
}

/** Returns the text of a file with a definition. */
export function definitionText(definition: unknown, format: DefinitionFormat): string {
  return format === 'json' ? `${JSON.stringify(definition, null, 2)}\n` : stringify(definition, { lineWidth: 100 });
}
