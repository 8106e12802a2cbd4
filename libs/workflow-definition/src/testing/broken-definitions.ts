import type { JsonObject, JsonValue } from '#libs/protocol';
import { agent, AllTypes } from './checked-definitions.js';

/** Node types of which only `agent` has known config keys. */
export class TypesWithKeys extends AllTypes {
  override configKeys(type: string): readonly string[] | undefined {
    return type === 'agent' ? ['prompt', 'tools'] : undefined;
  }
}

/** A definition without problems that has every member. */
export const WHOLE: JsonObject = {
  $schema: 'https://parley.example/schemas/workflow.json',
  name: 'w',
  description: 'd',
  nodes: [
    { id: 'topic', type: 'input', config: { schema: { type: 'array' }, default: [], optional: true } },
    {
      ...agent('draft', { config: { prompt: '{{topic}}', description: 'd' }, position: { x: 1, y: -2.5 } }),
      branch: 'first',
      join: { n: 1, cancelRest: true },
      each: { items: 'inputs.topic', concurrency: 2, maxItems: 10, onFailure: 'collect', minSuccess: '80%' },
      retry: { attempts: 3, on: ['timeout'], when: 'true', delay: '1s', factor: 2, maxDelay: '1m', jitter: 0.5 },
      timeout: '2m',
      fallback: { parts: [{ text: 'x' }, { data: null }] },
      output: { schema: { type: 'object' }, parse: true },
      onWait: { deadline: '48h', default: { decision: 'no' } },
    },
    { id: 'gate', type: 'human', config: { form: { type: 'object', required: ['ok'] } } },
    {
      id: 'sub',
      type: 'workflow',
      config: {
        body: {
          description: 'd',
          nodes: [{ id: 'word', type: 'input' }, agent('work', { config: { prompt: '{{word}}' }, timeout: '1m' })],
          edges: [{ from: 'word', to: 'work' }],
        },
        inputs: { word: 'x' },
      },
    },
    { id: 'out', type: 'output', config: { prompt: '{{sub}}' } },
    agent('notify'),
  ],
  edges: [
    { from: 'topic', to: 'draft' },
    { from: 'draft', to: 'gate', when: 'size(nodes.draft.data) > 0', on: 'success' },
    {
      from: 'gate',
      to: 'draft',
      loop: { max_iterations: 3, exit_when: 'nodes.gate.data.ok', delay: '1s', on_max: 'fail', initial: 'none' },
    },
    { from: 'gate', to: 'sub' },
    { from: 'sub', to: 'out' },
  ],
  onFailure: 'continue',
  language: 2,
  deadline: '2h',
  parallel: 20,
  onExit: [{ node: 'notify', on: 'failure' }],
};

/** Paths of the objects in `WHOLE` in which `brokenDefinitions` breaks one member at a time. */
const BROKEN_OBJECTS = [
  '',
  'nodes.1',
  ...['position', 'join', 'each', 'retry', 'fallback', 'output', 'onWait'].map((name) => `nodes.1.${name}`),
  ...['edges.1', 'edges.2.loop', 'onExit.0', 'nodes.3.config.body', 'nodes.3.config.body.nodes.1'],
];

const ODD_VALUES: JsonValue[] = [null, true, 'odd text', 1.5, 100_001, [5, {}], {}];

/** Names to give to members: each is unknown in some objects, and known, reserved or dangerous in others. */
const STRANGE_NAMES = ['x', 'on', 'budget', 'revision', 'constructor'];

const many = (count: number, entry: (index: number) => JsonValue): JsonValue[] =>
  Array.from({ length: count }, (_, index) => entry(index));

/** Definitions that have faults in several places, or a fault outside of the members of an object, by name. */
const ODD_DEFINITIONS: Record<string, JsonValue> = {
  'no object': 5,
  null: null,
  'a list': [WHOLE],
  nothing: {},
  'an infinite number': { ...WHOLE, parallel: Infinity },
  'too deep': { ...WHOLE, description: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as JsonValue },
  'entries that are no objects': { ...WHOLE, nodes: [null, [[]], 'a'], edges: [5, null], onExit: [[], 'x'] },
  'lists in place of objects': { ...WHOLE, nodes: [agent('a', { retry: [[5, null], {}], each: [[]], join: ['any'] })] },
  'every member null': Object.fromEntries(Object.keys(WHOLE).map((name) => [name, null])),
  'only what is required': { name: 'w', nodes: [{ id: 'a', type: 'agent' }] },
  'another order of members': Object.fromEntries(Object.entries(WHOLE).toReversed()),
  'more nodes than allowed': { name: 'w', nodes: many(1001, () => 5) },
  'more edges than allowed': { ...WHOLE, edges: many(10_001, () => ({ from: 'topic', to: 'draft' })) },
  'more edges than allowed, all broken': { ...WHOLE, edges: many(10_001, () => ({ on: 5 })) },
  'more exits than allowed': { ...WHOLE, onExit: many(101, () => ({ node: 5 })) },
  'more notes than allowed': { ...WHOLE, notes: many(101, () => ({ text: 5 })) },
  'more faults than reported': { ...WHOLE, nodes: many(60, () => ({ retry: {} })), deadline: 5 },
  'more unknown members than reported': {
    ...WHOLE,
    ...Object.fromEntries(many(15, (index) => `strange${index}`).map((name) => [name, 1])),
  },
  'a long unknown member': { ...WHOLE, ['y'.repeat(80)]: 1 },
  'a broken body in a body': {
    name: 'w',
    nodes: [
      { id: 'a', type: 'workflow', config: { body: { nodes: [{ id: 'b', type: 'workflow', config: { body: {} } }] } } },
    ],
  },
  'too many broken nodes in a body': {
    name: 'w',
    nodes: [{ id: 'a', type: 'workflow', config: { body: { nodes: many(1002, () => ({ x: 1 })) } } }],
  },
};

/**
 * Returns about 580 definitions, nearly all with one fault. Each has a name that describes the fault. The list is
 * always the same.
 */
export function brokenDefinitions(): [name: string, sent: JsonValue][] {
  return [
    ['whole', WHOLE],
    ...Object.entries(ODD_DEFINITIONS),
    ...BROKEN_OBJECTS.flatMap((path) => [
      ...Object.keys(objectAt(WHOLE, path)).flatMap((member) => brokenMembers(path, member)),
      ...STRANGE_NAMES.map((name) => withChange(path, name, 'strange', (at) => (at[name] = 'strange'))),
    ]),
  ];
}

function brokenMembers(path: string, member: string): [string, JsonValue][] {
  return [
    withChange(path, member, 'absent', (at) => delete at[member]),
    ...ODD_VALUES.map((value) =>
      withChange(path, member, JSON.stringify(value), (at) => (at[member] = structuredClone(value))),
    ),
  ];
}

function withChange(
  path: string,
  member: string,
  what: string,
  change: (at: JsonObject) => unknown,
): [string, JsonValue] {
  const copy = structuredClone(WHOLE);
  change(objectAt(copy, path));
  return [`${path === '' ? '' : `${path}.`}${member}: ${what}`, copy];
}

function objectAt(value: JsonObject, path: string): JsonObject {
  const keys = path === '' ? [] : path.split('.');
  return keys.reduce<JsonValue>((at, key) => (at as JsonObject)[key] ?? null, value) as JsonObject;
}
