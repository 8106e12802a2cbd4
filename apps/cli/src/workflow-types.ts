import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { inputsSchema, type WorkflowGraph, type WorkflowNode } from '#libs/workflow-definition';

const HEAD = '// Types of workflows, written by `parley types`. Do not edit: run the command again.\n';
/** Maximum depth of a schema; anything deeper becomes `unknown`. */
const DEEPEST = 32;
const WORD = /^[A-Za-z_$][\w$]*$/;

/**
 * Returns a TypeScript module with the inputs and outputs of workflows, for `createClient<Workflows>`.
 * - Inputs have the types of their schemas; an input without a schema takes any JSON.
 * - Outputs are the results of the `output` nodes, or of the nodes without outgoing edges if there are none. A result
 *   has the type of the node's schema, or `string` if the node has no schema.
 */
export function workflowTypes(workflows: readonly WorkflowGraph[]): string {
  const members = workflows.toSorted(byName).map((workflow) => indentLines(workflowMember(workflow)));
  return `${HEAD}export interface Workflows {\n${members.join('\n')}\n}\n`;
}

function byName({ definition: one }: WorkflowGraph, { definition: other }: WorkflowGraph): number {
  return one.name < other.name ? -1 : 1;
}

function workflowMember(workflow: WorkflowGraph): string {
  const { name, description, nodes } = workflow.definition;
  const properties = workflow.resultNodes().map((node): [string, string] => [memberName(node.id), outputType(node)]);
  const inputs = workflow.hasInputs ? schemaType(inputsSchema(nodes)) : 'Record<string, never>';
  const lines = [`inputs: ${inputs};`, `outputs: ${objectText(properties)};`].map(indentLines);
  return `${docComment(description)}${memberName(name)}: {\n${lines.join('\n')}\n};`;
}

/** Member of a node's config that has the JSON Schema of its result, by the node's type. */
const CONFIG_SCHEMAS: ReadonlyMap<string, string> = new Map([
  ['agent', 'output'],
  ['human', 'form'],
  ['output', 'schema'],
]);

function outputType({ type, config, output, each }: WorkflowNode): string {
  const schema = output?.schema ?? config[CONFIG_SCHEMAS.get(type) ?? ''];
  const one = schema === undefined ? 'string' : schemaType(schema);
  return each === undefined ? one : `Array<${one}>`;
}

/** Returns the TypeScript type of the values that fit a JSON Schema; `unknown` where TypeScript cannot express it. */
export function schemaType(schema: JsonValue, depth = 0): string {
  if (schema === false) return 'never';
  if (!isJsonObject(schema) || depth > DEEPEST) return 'unknown';
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return unionOf(schema['enum'].map((it) => JSON.stringify(it)));
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return unionOf(choices.map((it) => schemaType(it, depth + 1)));
  const { type } = schema;
  if (Array.isArray(type)) return unionOf(type.map((it) => schemaType({ ...schema, type: it }, depth + 1)));
  if (type === 'object' || (type === undefined && isJsonObject(schema['properties']))) return objectType(schema, depth);
  if (type === 'array') return `Array<${schemaType(schema['items'] ?? true, depth + 1)}>`;
  return SIMPLE_TYPES.get(type) ?? 'unknown';
}

const SIMPLE_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
]);

function objectType(schema: JsonObject, depth: number): string {
  const { properties, required, additionalProperties: others } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, it]): [string, string] => [
    `${docComment(isJsonObject(it) ? it['description'] : undefined)}${memberName(name)}${needed.has(name) ? '' : '?'}`,
    schemaType(it, depth + 1),
  ]);
  if (members.length > 0) return objectText(members);
  return others === false ? 'Record<string, never>' : `Record<string, ${schemaType(others ?? true, depth + 1)}>`;
}

function objectText(members: readonly (readonly [string, string])[]): string {
  if (members.length === 0) return 'Record<string, unknown>';
  const lines = members.map(([name, type]) => indentLines(`${name}: ${type};`));
  return `{\n${lines.join('\n')}\n}`;
}

function unionOf(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never';
}

function memberName(name: string): string {
  return WORD.test(name) ? name : JSON.stringify(name);
}

/** Returns a doc comment on a line of its own; '' without a text. */
function docComment(text: unknown): string {
  if (typeof text !== 'string' || text.trim() === '') return '';
  return `/** ${text.trim().replaceAll(/\s+/g, ' ').replaceAll('*/', '* /')} */\n`;
}

function indentLines(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
