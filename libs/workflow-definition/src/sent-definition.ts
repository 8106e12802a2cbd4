import { ProblemError, readBody } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import { definitionOf, WorkflowBody } from './workflow-body.js';
import { errorProblem, warningProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

/** Parses a definition. Returns its problems if it is malformed. */
export function readDefinition(sent: unknown): WorkflowDefinition | WorkflowProblem[] {
  try {
    return definitionOf(readBody(WorkflowBody, sent));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 400) throw error;
    return error.errors.map(({ path, detail }) => errorProblem('MALFORMED', path, `${path} ${detail}`.trim()));
  }
}

type Language = WorkflowDefinition['language'];

/**
 * Returns the inline definition of a `workflow` node as it was sent. Its name defaults to the node id, its language to
 * that of the surrounding definition.
 */
export function inlineBody({ id, type, config: { body } }: WorkflowNode, around?: Language): JsonObject | undefined {
  if (type !== 'workflow' || !isJsonObject(body)) return undefined;
  // An invalid language is reported once, at the surrounding definition.
  const language = body['language'] ?? (around === 1 || around === 2 ? around : undefined);
  return { name: id, ...body, ...(language !== undefined && { language }) };
}

/**
 * Returns the inline definition of a `workflow` node; `undefined` if the node names a workflow instead, or its body is
 * invalid.
 */
export function inlineDefinition(node: WorkflowNode, around?: Language): WorkflowDefinition | undefined {
  const body = inlineBody(node, around);
  const read = body && readDefinition(body);
  return Array.isArray(read) ? undefined : read;
}

interface KnownMembers {
  /** Name with its article for messages. */
  what: string;
  known: ReadonlySet<string>;
  /** Reserved members: they may change what a run does in other versions, so ignoring one would run something else. */
  reserved?: ReadonlySet<string>;
  /** Members that are objects themselves. */
  parts?: Readonly<Record<string, KnownMembers>>;
}

const EACH = memberNames('an each', 'items concurrency maxItems onFailure minSuccess');
const RETRY = memberNames('a retry', 'attempts on when delay factor maxDelay jitter');
const FALLBACK = memberNames('a fallback', 'parts');
const OUTPUT = memberNames('an output', 'schema parse');
const ON_WAIT = memberNames('an onWait', 'deadline default');
const JOIN = memberNames('a join', 'n cancelRest');
const LOOP = memberNames('a loop', 'max_iterations exit_when delay on_max initial');
const EXIT = memberNames('an entry of onExit', 'node on');

/** `revision` and the members after it are those that the service returns beside a definition. */
const WORKFLOW: KnownMembers = {
  ...memberNames(
    'a workflow',
    '$schema name description nodes edges onFailure language deadline parallel onExit revision createdAt updatedAt problems',
  ),
  reserved: new Set(['concurrency', 'budget']),
};
const NODE: KnownMembers = {
  ...memberNames('a node', 'id type config position branch join each retry timeout fallback output onWait'),
  parts: { join: JOIN, each: EACH, retry: RETRY, fallback: FALLBACK, output: OUTPUT, onWait: ON_WAIT },
};
const EDGE: KnownMembers = { ...memberNames('an edge', 'from to when on loop'), parts: { loop: LOOP } };

/** Names that no member of a workflow may have. */
export const RESERVED_MEMBERS = [...(WORKFLOW.reserved ?? [])];

/** Returns the unknown members of a definition as it was sent. */
export function unknownMembers(sent: JsonObject): WorkflowProblem[] {
  return [
    ...findUnknownMembers(sent, WORKFLOW, ''),
    ...objectEntries(sent['onExit']).flatMap(([index, exit]) => findUnknownMembers(exit, EXIT, `onExit[${index}].`)),
    ...objectEntries(sent['nodes']).flatMap(([index, node]) => {
      const id = typeof node['id'] === 'string' ? { node: node['id'] } : {};
      return findUnknownMembers(node, NODE, `nodes[${index}].`).map((it) => ({ ...it, ...id }));
    }),
    ...objectEntries(sent['edges']).flatMap(([edge, value]) =>
      findUnknownMembers(value, EDGE, `edges[${edge}].`).map((it) => ({ ...it, edge })),
    ),
  ];
}

function memberNames(what: string, names: string): KnownMembers {
  return { what, known: new Set(names.split(' ')) };
}

function findUnknownMembers(
  value: JsonObject,
  { what, known, reserved, parts = {} }: KnownMembers,
  path: string,
): WorkflowProblem[] {
  const names = Object.keys(value).filter((name) => !known.has(name));
  const own = names.slice(0, MOST_REPORTED).map((name) => {
    const shown = textStart(name, 64);
    return reserved?.has(name)
      ? errorProblem(
          'UNKNOWN_KEY',
          `${path}${shown}`,
          `unknown key "${shown}": ${what} has no such member in this version`,
        )
      : warningProblem('UNKNOWN_KEY', `${path}${shown}`, `unknown key "${shown}": ${what} has no such member`);
  });
  const inner = Object.entries(parts).flatMap(([name, part]) => {
    const it = value[name];
    return isJsonObject(it) ? findUnknownMembers(it, part, `${path}${name}.`) : [];
  });
  return [...own, ...inner];
}

const MOST_REPORTED = 10;

function objectEntries(values: JsonValue | undefined): [number, JsonObject][] {
  if (!Array.isArray(values)) return [];
  return values.flatMap((value, index): [number, JsonObject][] => (isJsonObject(value) ? [[index, value]] : []));
}
