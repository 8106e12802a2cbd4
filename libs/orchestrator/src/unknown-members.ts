import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { fault, warning, type WorkflowProblem } from './workflow-problem.js';

interface Members {
  known: ReadonlySet<string>;
  /** Those that change what a run does where they are known: to leave them out without a word would run something else. */
  reserved: ReadonlySet<string>;
}

/** `revision` and what follows it is what the service shows beside a definition. */
const WORKFLOW: Members = {
  known: new Set([
    '$schema',
    'name',
    'description',
    'nodes',
    'edges',
    'onFailure',
    ...['revision', 'createdAt', 'updatedAt', 'problems'],
  ]),
  reserved: new Set(['language', 'deadline', 'parallel', 'onExit', 'concurrency', 'budget']),
};
const NODE: Members = {
  known: new Set(['id', 'type', 'config', 'position']),
  reserved: new Set([
    ...['branch', 'join', 'each', 'retry', 'timeout', 'deadline'],
    ...['output', 'fallback', 'onWait', 'schema', 'optional', 'default'],
  ]),
};
const EDGE: Members = { known: new Set(['from', 'to']), reserved: new Set(['when', 'on', 'loop']) };

/** The names that no member of a workflow, a node and an edge may have. */
export const RESERVED_MEMBERS = {
  workflow: [...WORKFLOW.reserved],
  node: [...NODE.reserved],
  edge: [...EDGE.reserved],
};

/** The members of a definition, as it was sent, that mean nothing here. */
export function unknownMembers(sent: JsonObject): WorkflowProblem[] {
  return [
    ...strangers(sent, WORKFLOW, '', 'a workflow'),
    ...entries(sent['nodes']).flatMap(([index, node]) => {
      const id = typeof node['id'] === 'string' ? { node: node['id'] } : {};
      return strangers(node, NODE, `nodes[${index}].`, 'a node').map((it) => ({ ...it, ...id }));
    }),
    ...entries(sent['edges']).flatMap(([edge, value]) =>
      strangers(value, EDGE, `edges[${edge}].`, 'an edge').map((it) => ({ ...it, edge })),
    ),
  ];
}

function strangers(value: JsonObject, { known, reserved }: Members, path: string, what: string): WorkflowProblem[] {
  const names = Object.keys(value).filter((name) => !known.has(name));
  return names.slice(0, MOST_REPORTED).map((name) => {
    const shown = name.slice(0, 64);
    return reserved.has(name)
      ? fault('UNKNOWN_KEY', `${path}${shown}`, `unknown key "${shown}": ${what} has no such member in this version`)
      : warning('UNKNOWN_KEY', `${path}${shown}`, `unknown key "${shown}": ${what} has no such member`);
  });
}

const MOST_REPORTED = 10;

function entries(values: JsonValue | undefined): [number, JsonObject][] {
  if (!Array.isArray(values)) return [];
  return values.flatMap((value, index): [number, JsonObject][] => (isJsonObject(value) ? [[index, value]] : []));
}
