import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { parseJson, UnfitJson } from '#libs/protocol';
import { CommandError } from './exit-code.js';

/**
 * Parses the values of the option `-i`: `key=text`, `key:=json`, or `key=@file` for the text of a file.
 * @throws CommandError for a value in none of these forms, a repeated key, invalid JSON, or a file that cannot be read
 * as UTF-8
 */
export function readInputs(given: readonly string[]): Record<string, unknown> {
  const inputs = new Map<string, unknown>();
  for (const text of given) {
    const [key, value] = inputOf(text);
    if (inputs.has(key)) throw new CommandError(`-i ${key} is given twice; a list is given as ${key}:='["a", "b"]'`);
    inputs.set(key, value);
  }
  return Object.fromEntries(inputs);
}

function inputOf(given: string): [string, unknown] {
  const [, key, json, text = ''] = /^([^=:]+)(:?)=(.*)$/s.exec(given) ?? [];
  if (key === undefined) throw new CommandError(`-i ${given}: give it as key=text, key:=json or key=@file`);
  if (json === ':') return [key, parseInputJson(given, text)];
  return [key, readGivenText(text)];
}

/** Returns a given text, or that of a file for `@file`. @throws CommandError */
export function readGivenText(text: string): string {
  return text.startsWith('@') ? readTextFile(text.slice(1)) : text;
}

function parseInputJson(given: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof UnfitJson) throw new CommandError(`-i ${given}: ${error.message}`);
    throw new CommandError(`-i ${given}: the value after := is not valid JSON; give texts with =`);
  }
}

function readTextFile(file: string): string {
  const bytes = readBytes(file);
  if (isUtf8(bytes)) return bytes.toString();
  throw new CommandError(`${file} is not UTF-8`);
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new CommandError(`${file} cannot be read`);
  }
}

/** Collects the values of an option that may be repeated: returns the earlier values and the new one. */
export function collectValue(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
