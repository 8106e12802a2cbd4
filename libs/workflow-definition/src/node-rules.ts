import { agentToolEntries, type NodeProblem, type NodeTypes } from '#libs/agents';
import { InputSchema, InvalidInputSchema, type SharedUse } from '#libs/expressions';
import { isJsonObject, type JsonObject, type JsonValue, type Part } from '#libs/protocol';
import { PERCENTAGE, RANGES } from './node-schema.js';
import { FAILURE_KINDS } from './failure.js';
import { errorProblem, MemberProblems, type WorkflowProblem } from './workflow-problem.js';
import type { EachConfig, RetryConfig, WorkflowDefinition, WorkflowNode } from './workflow.js';

/** Name of the config member that holds a JSON Schema, by node type. */
const CONFIG_SCHEMAS: Readonly<Record<string, string>> = { agent: 'output', human: 'form', output: 'schema' };

/**
 * Returns the errors in the members that nodes of all types have: `retry`, `timeout`, `each`, `fallback`, `output` and
 * `onWait`. `findConfigProblems` checks `config`.
 * @param use counts the schemas of the whole workflow against their common limits
 */
export function nodeRuleProblems({ nodes, language }: WorkflowDefinition, use: SharedUse): WorkflowProblem[] {
  return [...nodes.entries()].flatMap(([index, node]) => {
    const { id, type, timeout, retry, each, fallback } = node;
    const problems = new MemberProblems({ path: `nodes[${index}]`, said: `${type} node "${id}": `, node: id });
    problems.checkLimit('timeout', timeout);
    if (retry) checkRetry(problems, retry);
    if (each) checkEach(problems, each);
    if (fallback) checkParts(problems, fallback.parts);
    checkOutput(problems, node, use);
    checkAnswer(problems, node, use);
    if (language !== 2) checkWait(problems, node);
    return problems.found;
  });
}

function checkRetry(
  problems: MemberProblems,
  { attempts, on = [], delay, factor, maxDelay, jitter }: RetryConfig,
): void {
  problems
    .checkWholeNumber('retry.attempts', attempts, RANGES.attempts)
    .checkPause('retry.delay', delay)
    .checkNumber('retry.factor', factor, RANGES.factor)
    .checkPause('retry.maxDelay', maxDelay)
    .checkNumber('retry.jitter', jitter, RANGES.jitter);
  for (const [index, kind] of on.entries()) {
    const rule = `is not a kind of failure; allowed are: ${FAILURE_KINDS.join(', ')}`;
    problems.checkThat(FAILURE_KINDS.includes(kind), 'UNKNOWN_FAILURE_KIND', `retry.on[${index}]`, rule);
  }
}

function checkEach(problems: MemberProblems, { concurrency, maxItems, minSuccess }: EachConfig): void {
  problems
    .checkWholeNumber('each.concurrency', concurrency, RANGES.concurrency)
    .checkWholeNumber('each.maxItems', maxItems, RANGES.maxItems);
  if (typeof minSuccess === 'number')
    problems.checkWholeNumber('each.minSuccess', minSuccess, [0, maxItems ?? MOST_ITEMS_UNLESS_SET]);
  if (typeof minSuccess === 'string')
    problems.checkThat(
      PERCENTAGE.test(minSuccess),
      'OUT_OF_RANGE',
      'each.minSuccess',
      'must be a whole number, or a percentage from 0% to 100%',
    );
}

const MOST_ITEMS_UNLESS_SET = 1_000;

function checkParts(problems: MemberProblems, parts: readonly Part[]): void {
  for (const [index, part] of parts.entries())
    problems.checkThat(
      isPart(part as JsonValue),
      'INVALID_PART',
      `fallback.parts[${index}]`,
      `must be an A2A Part: an object with exactly one of ${CONTENTS.join(', ')}`,
    );
}

const CONTENTS = ['text', 'raw', 'url', 'data'];

function isPart(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  const contents = CONTENTS.filter((name) => part[name] !== undefined);
  return (
    contents.length === 1 &&
    [...contents.filter((name) => name !== 'data'), 'mediaType', 'filename'].every((name) => isTextOf(part, name)) &&
    (part['metadata'] === undefined || isJsonObject(part['metadata']))
  );
}

function isTextOf(part: JsonObject, name: string): boolean {
  return part[name] === undefined || typeof part[name] === 'string';
}

function checkOutput(problems: MemberProblems, { type, config, output }: WorkflowNode, use: SharedUse): void {
  const own = type === 'output' ? 'schema' : 'output';
  const isTwice = output !== undefined && ['agent', 'output'].includes(type) && isGiven(config[own]);
  problems.checkThat(
    !isTwice,
    'CONFLICTING_OUTPUT',
    'output',
    `cannot be combined with config.${own}: set only one of them`,
  );
  problems.checkSchema('output.schema', output?.schema, use);
}

/**
 * Adds an error for an invalid JSON Schema in a node's config, an invalid `onWait`, and a default answer
 * (`onWait.default`) of a `human` node that does not match the node's `form`.
 */
function checkAnswer(problems: MemberProblems, { type, config, onWait }: WorkflowNode, use: SharedUse): void {
  const value = onWait?.default;
  const key = CONFIG_SCHEMAS[type] ?? '';
  const schema = isJsonObject(config[key]) ? config[key] : undefined;
  const rule = 'must be an object, which is sent as data, or a text';
  problems
    .checkLimit('onWait.deadline', onWait?.deadline)
    .checkThat(
      value === undefined || typeof value === 'string' || isJsonObject(value),
      'INVALID_DEFAULT',
      'onWait.default',
      rule,
    );
  const answer = value === undefined || type !== 'human' ? undefined : { member: 'onWait.default', value };
  problems.checkSchema(`config.${key}`, schema, use, answer);
}

function checkWait(problems: MemberProblems, { type, config }: WorkflowNode): void {
  const { for: length } = config;
  if (type !== 'wait' || typeof length !== 'string' || !length.includes('${')) return;
  problems.checkThat(false, 'INVALID_DURATION', 'config.for', 'is an expression only in "language": 2');
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

/**
 * Returns the errors in the types of nodes and in their `config`. `nodeRuleProblems` checks the other members.
 * @param use counts the schemas of the whole workflow against their common limits
 */
export function findConfigProblems(
  { name, nodes }: WorkflowDefinition,
  nodeTypes: NodeTypes,
  use: SharedUse,
): WorkflowProblem[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    [
      ...descriptionProblems(node),
      ...inputProblems(node, use),
      ...nodeTypes.findProblems(node, use),
      ...selfCallProblems(name, node),
    ].map((problem) => {
      const code = nodeTypes.names.includes(node.type) ? 'INVALID_CONFIG' : 'UNKNOWN_TYPE';
      const { path, detail } = typeof problem === 'string' ? { path: '', detail: problem } : problem;
      return errorProblem(code, `nodes[${index}]${path && `.${path}`}`, detail, { node: node.id });
    }),
  );
}

/**
 * Returns a problem if `config.description` is not a string. A node of any type may have a description, which the card
 * of the node's agent shows.
 */
function descriptionProblems({ id, type, config: { description } }: WorkflowNode): NodeProblem[] {
  if (description === undefined || typeof description === 'string') return [];
  return [{ path: 'config.description', detail: `${type} node "${id}": description must be a string` }];
}

/**
 * Returns a problem for each tool of an `agent` node by which the agent would call itself, or the workflow that
 * contains it.
 */
function selfCallProblems(workflow: string, { id, type, config }: WorkflowNode): NodeProblem[] {
  if (type !== 'agent') return [];
  const own = [workflow, `workflows/${workflow}`, `workflows/${workflow}/nodes/${id}`];
  const entries = agentToolEntries(config['tools']).filter(({ reference }) => own.includes(readAgentPath(reference)));
  return entries.map(({ index }) => ({
    path: `config.tools[${index}]`,
    detail: `agent node "${id}": tools[${index}] must not be the node itself, or its own workflow`,
  }));
}

/**
 * Converts a reference to an agent of this service to a path below `/a2a`: removes `/a2a/` at the start and a slash at
 * the end.
 */
function readAgentPath(reference: string): string {
  return reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
}

/**
 * Returns the problems of an `input` node: `optional` is not a boolean, the schema is invalid, or the default does not
 * match the schema. Returns none for other node types.
 */
function inputProblems({ id, type, config }: WorkflowNode, use: SharedUse): NodeProblem[] {
  if (type !== 'input') return [];
  const { schema, optional } = config;
  const createInputProblem = (member: string, rule: string, at = ''): NodeProblem => ({
    path: `config.${member}${at}`,
    detail: `input node "${id}": ${member}${at} ${rule}`,
  });
  const wrong =
    optional === undefined || typeof optional === 'boolean'
      ? []
      : [createInputProblem('optional', 'must be a boolean')];
  if (schema === undefined) return wrong;
  try {
    const rules = InputSchema.fromJson(schema, use);
    const faults = config['default'] === undefined ? [] : rules.faults(config['default'], use);
    return [...wrong, ...faults.map(({ path, detail }) => createInputProblem('default', detail, path))];
  } catch (error) {
    if (!(error instanceof InvalidInputSchema)) throw error;
    return [...wrong, createInputProblem('schema', error.message)];
  }
}
