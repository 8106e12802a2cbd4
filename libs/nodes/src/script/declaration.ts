import type { AgentDeclaration } from '#libs/executor';
import { isJsonObject, type AgentExtension, type JsonObject, type JsonValue } from '#libs/protocol';

export const MEDIA_TYPE = /^(\*|[\w!#$&^.+-]{1,127})\/(\*|[\w!#$&^.+-]{1,127})$/;
/** Maximum number of entries in one list. */
export const MOST_ENTRIES = 100;

type DeclarationRule = (value: JsonValue) => string | undefined;

const KEYS: Readonly<Record<string, DeclarationRule>> = {
  inputModes: modesProblem,
  outputModes: modesProblem,
  streaming: flagProblem,
  pushNotifications: flagProblem,
  extensions: (value) => listProblem(value, isExtension, 'extensions, each with a uri'),
};
const EXTENSION_KEYS = ['uri', 'description', 'required', 'params'];

/** Returns the problems of a script's `agent`, as sentences without their path. */
export function declarationProblems(json: JsonValue | undefined): string[] {
  if (json === undefined) return [];
  if (!isJsonObject(json)) return ['must be an object'];
  const unknown = Object.keys(json).filter((key) => !Object.hasOwn(KEYS, key));
  const problems = unknown.length > 0 ? [`has unknown members: ${unknown.join(', ')}`] : [];
  for (const [key, rule] of Object.entries(KEYS)) {
    const problem = json[key] === undefined ? undefined : rule(json[key]);
    if (problem !== undefined) problems.push(`${key} ${problem}`);
  }
  return problems;
}

/** Converts the valid `agent` of a script to a declaration. */
export function declarationOf(json: JsonValue | undefined): AgentDeclaration | undefined {
  if (!isJsonObject(json)) return undefined;
  const { inputModes, outputModes, streaming, pushNotifications, extensions } = json;
  const capabilities = {
    ...(streaming !== undefined && { streaming: streaming === true }),
    ...(pushNotifications !== undefined && { pushNotifications: pushNotifications === true }),
    ...(extensions !== undefined && { extensions: extensions as unknown as AgentExtension[] }),
  };
  return {
    ...(inputModes !== undefined && { inputModes: inputModes as string[] }),
    ...(outputModes !== undefined && { outputModes: outputModes as string[] }),
    capabilities,
  };
}

function modesProblem(value: JsonValue): string | undefined {
  return listProblem(value, (it) => typeof it === 'string' && MEDIA_TYPE.test(it), 'media types such as text/plain');
}

function flagProblem(value: JsonValue): string | undefined {
  return typeof value === 'boolean' ? undefined : 'must be true or false';
}

function listProblem(value: JsonValue, fits: (entry: JsonValue) => boolean, what: string): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_ENTRIES;
  return isList && value.every(fits) ? undefined : `must be a list of 1 to ${MOST_ENTRIES} ${what}`;
}

function isExtension(value: JsonValue): boolean {
  if (!isJsonObject(value) || Object.keys(value).some((key) => !EXTENSION_KEYS.includes(key))) return false;
  const { uri, description, required, params } = value;
  // The header with extensions separates them by commas.
  if (typeof uri !== 'string' || !/^[^\s,]{1,500}$/.test(uri)) return false;
  return (
    hasType(description, 'string') && hasType(required, 'boolean') && (params === undefined || isJsonObject(params))
  );
}

function hasType(value: JsonObject[string] | undefined, type: 'string' | 'boolean'): boolean {
  return value === undefined || typeof value === type;
}
