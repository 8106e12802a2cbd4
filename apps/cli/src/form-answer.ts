import { dataPart, type JsonValue, parseJson, type Part, textPart, tryParseJson, UnfitJson } from '#libs/protocol';
import { CommandError } from './exit-code.js';
import { readInputs } from './inputs.js';

/** Members of an answer's JSON Schema that the terminal shows. */
export interface Form {
  required?: unknown;
  properties?: Record<string, { type?: unknown; enum?: unknown[]; title?: string }>;
}

/** Answer of a person, given in one of three ways. The other two members are `undefined` or empty. */
export interface GivenAnswer {
  text?: string | undefined;
  /** Values of `-i`; empty if there are none. */
  input: readonly string[];
  /** Value of the option `--data`, a JSON text. */
  data?: string | undefined;
}

/** Returns one line for each field of a form. */
export function formFields(form: Form | undefined): string[] {
  return Object.entries(form?.properties ?? {}).map(
    ([name, { title, enum: words, type }]) =>
      `    ${name}: ${words?.map(String).join(' | ') ?? (typeof type === 'string' ? type : 'any')}${title ? ` (${title})` : ''}`,
  );
}

/**
 * Returns the Part to send for an answer. The commands `answer`, `chat` and `send` all use this rule.
 * - Without a form, a text is sent as it is.
 * - With a form, a text is the data of the form as a JSON object, or the value of its only required field.
 * - The values of `-i` and of the only field get the types of the form's fields, where possible.
 * @throws CommandError unless exactly one answer is given, and for an answer that cannot be parsed: for example a text
 * that is no JSON object, if the form has several required fields
 */
export function answerPart(form: Form | undefined, { text, input, data }: GivenAnswer): Part {
  const given = [text, data, input.length > 0 ? input : undefined].filter((it) => it !== undefined);
  if (given.length !== 1) throw new CommandError('Give exactly one answer: a text, -i or --data');
  if (data !== undefined) return dataPart(parseDataJson(data));
  if (text === undefined) return dataPart(typedFields(readInputs(input), form));
  if (form === undefined) return textPart(text);
  const fields = formData(form, text);
  if (fields === undefined)
    throw new CommandError(`A text answers only a form with one required field: ${sampleAnswer(form)}`);
  return dataPart(fields);
}

/** Returns advice on how to answer a form: `answer it with -i size=text, or with --data`. */
export function sampleAnswer(form: Form): string {
  const samples = fieldsToGive(form).map((name) => `-i ${name}=${sampleValue(form, name)}`);
  return `answer it with ${samples.join(' ') || '-i field=value'}, or with --data`;
}

/**
 * Reads a line of a chat: `-i field=value -i other:=1` and `--data {"field":1}` as the options of these names, and
 * anything else as a text.
 */
export function typedAnswer(line: string): GivenAnswer {
  const [, json] = /^--data[ =](.*)$/s.exec(line) ?? [];
  if (json !== undefined) return { data: json, input: [] };
  if (!/^-i [^\s=:]+:?=/.test(line)) return { text: line, input: [] };
  const values = ` ${line}`.split(' -i ');
  return { input: values.slice(1).map((value) => value.trim()) };
}

/**
 * Returns the names of the fields that an answer must give: the required ones, or the only field of a form that
 * requires none.
 */
function fieldsToGive({ required, properties }: Form): string[] {
  const names = Array.isArray(required) ? required.filter((it): it is string => typeof it === 'string') : [];
  const [only, another] = Object.keys(properties ?? {});
  return names.length === 0 && only !== undefined && another === undefined ? [only] : names;
}

function sampleValue({ properties }: Form, name: string): string {
  const { enum: words, type } = properties?.[name] ?? {};
  const [word] = words ?? [];
  if (word !== undefined) return typeof word === 'string' ? word : JSON.stringify(word);
  return type === 'boolean' ? 'true' : type === 'number' || type === 'integer' ? '1' : 'text';
}

/**
 * Parses a typed text as the data of a form: a JSON object, or any text if the form has exactly one field to give.
 * Returns `undefined` if the text is neither.
 */
function formData(form: Form, text: string): Record<string, JsonValue> | undefined {
  const json = parseIfJson(text);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, JsonValue>;
  const [only, another] = fieldsToGive(form);
  return only !== undefined && another === undefined ? typedFields({ [only]: text }, form) : undefined;
}

/** Converts texts to the types of the form's fields, where possible. */
function typedFields(fields: Record<string, unknown>, form: Form | undefined): Record<string, JsonValue> {
  const typed = Object.entries(fields).map(([name, value]): [string, JsonValue] => {
    const type = form?.properties?.[name]?.type;
    const other = type === 'boolean' || type === 'number' || type === 'integer';
    return [name, (other && typeof value === 'string' ? parseIfJson(value) : value) as JsonValue];
  });
  return Object.fromEntries(typed);
}

function parseDataJson(text: string): JsonValue {
  try {
    return parseJson(text) as JsonValue;
  } catch (error) {
    if (error instanceof UnfitJson) throw new CommandError(`--data: ${error.message}`);
    throw new CommandError('--data is not valid JSON');
  }
}

/** Returns the value of a JSON text, or the text itself if it is not JSON. */
function parseIfJson(text: string): unknown {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
