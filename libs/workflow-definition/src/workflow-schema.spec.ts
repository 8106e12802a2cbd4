import { Ajv2020 } from 'ajv/dist/2020.js';
import { type AgentExecutor, type ConfigSchema, NodeTypes } from '#libs/agents';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { workflowSchema } from './workflow-schema.js';

class OneType extends NodeTypes {
  readonly names = ['agent'];
  createExecutor(): AgentExecutor {
    throw new Error('none');
  }
  findProblems(): string[] {
    return [];
  }
  override configSchema(): ConfigSchema {
    return { type: 'object', properties: {} };
  }
}

const SCHEMA = workflowSchema(new OneType());
const fits = new Ajv2020({ strict: true }).compile(SCHEMA);

/** Definition with every member. */
const FULL: JsonObject = {
  $schema: 's',
  name: 'w',
  description: 'd',
  nodes: [
    {
      id: 'a',
      type: 'agent',
      config: {},
      position: { x: 1, y: 2 },
      branch: 'first',
      join: { n: 2, cancelRest: true },
      each: { items: 'inputs.list', concurrency: 2, maxItems: 10, onFailure: 'collect', minSuccess: '80%' },
      retry: { attempts: 3, on: ['timeout'], when: 'true', delay: '1s', factor: 2, maxDelay: '1.5m', jitter: 0.5 },
      timeout: '2m',
      fallback: { parts: [{ text: 'x' }, { data: null }, { url: 'http://a.test' }] },
      output: { schema: { type: 'object' }, parse: true },
      onWait: { deadline: '48h', default: { decision: 'no' } },
    },
  ],
  edges: [
    {
      from: 'a',
      to: 'a',
      when: 'nodes.a.data == 1',
      on: 'always',
      loop: { max_iterations: 3, exit_when: 'true', delay: '1s', on_max: 'fail', initial: '' },
    },
  ],
  onFailure: 'cancel',
  language: 2,
  deadline: '2h',
  parallel: 20,
  concurrency: { limit: 2, key: 'inputs.a', onFull: 'skip' },
  inputModes: ['text/plain', 'image/*'],
  onExit: [{ node: 'c', on: 'failure' }],
  notes: [{ text: 'Why so?', position: { x: -40, y: 2.5 } }],
};

function having(path: string, value: JsonValue): JsonObject {
  const copy = structuredClone(FULL);
  const keys = path.split('.');
  const holder = keys.slice(0, -1).reduce<JsonValue>((at, key) => (at as JsonObject)[key] as JsonValue, copy);
  (holder as JsonObject)[keys.at(-1) ?? ''] = value;
  return copy;
}

interface Described {
  description?: string;
  properties?: Record<string, Described>;
  items?: Described;
}

/** Returns the paths of the members whose description is missing or is not a sentence. */
function undescribed({ properties = {}, items }: Described, path: string): string[] {
  const own = Object.entries(properties).flatMap(([name, member]) => [
    ...(member.description?.endsWith('.') ? [] : [`${path}.${name}`]),
    ...undescribed(member, `${path}.${name}`),
  ]);
  return [...own, ...(items ? undescribed(items, `${path}[]`) : [])];
}

describe('workflowSchema', () => {
  it('takes all that can be said', () => {
    expect(fits(FULL) || fits.errors).toBe(true);
  });

  it('describes every member, at any depth', () => {
    expect(undescribed(SCHEMA as Described, '')).toEqual([]);
  });

  it.each<[string, JsonValue]>([
    ['language', null],
    ['deadline', null],
    ['parallel', null],
    ['inputModes', null],
    ['inputModes', ['*/*']],
    ['onExit', null],
    ['notes', null],
    ['onExit.0.on', null],
    ['nodes.0.branch', null],
    ['nodes.0.join', null],
    ['nodes.0.join', 'any'],
    ['nodes.0.join.cancelRest', null],
    ['nodes.0.each', null],
    ['nodes.0.each.minSuccess', 0],
    ['nodes.0.each.minSuccess', '99.5%'],
    ['nodes.0.each.minSuccess', null],
    ['nodes.0.retry', { attempts: 1 }],
    ['nodes.0.retry.on', null],
    ['nodes.0.fallback.parts', []],
    ['nodes.0.output', {}],
    ['nodes.0.onWait.default', 'text'],
    ['nodes.0.onWait.default', null],
    ['edges.0.loop', null],
    ['edges.0.when', 'true'],
    ['edges.0.on', null],
    ['nodes.0.retry.stranger', 1],
  ])('takes %s: %j', (path, value) => {
    const definition = having(path, value);
    expect(fits(definition) || fits.errors).toBe(true);
  });

  it.each<[string, JsonValue]>([
    ['language', 3],
    ['deadline', '2 hours'],
    ['parallel', 0],
    ['inputModes', []],
    ['inputModes', 'text/plain'],
    ['inputModes', ['*/png']],
    ['parallel', 1.5],
    ['onExit', [{}]],
    ['notes', [{ text: 'x' }]],
    ['notes.0.text', 5],
    ['onExit.0.on', 'canceled'],
    ['concurrency', {}],
    ['concurrency.limit', 0],
    ['concurrency.onFull', 'queue'],
    ['budget', {}],
    ['budget', { usd: 0 }],
    ['budget', { tokens: 1.5 }],
    ['budget', { usd: 1, onExceeded: 'wait' }],
    ['nodes.0.branch', 'last'],
    ['nodes.0.join', 'some'],
    ['nodes.0.join.n', 0],
    ['nodes.0.each', { concurrency: 1 }],
    ['nodes.0.each.concurrency', 0],
    ['nodes.0.each.maxItems', 10_001],
    ['nodes.0.each.minSuccess', '101%'],
    ['nodes.0.each.minSuccess', 'most'],
    ['nodes.0.retry', {}],
    ['nodes.0.retry.attempts', 0],
    ['nodes.0.retry.on', ['bad luck']],
    ['nodes.0.retry.jitter', 2],
    ['nodes.0.timeout', 30],
    ['nodes.0.fallback.parts.0', {}],
    ['nodes.0.fallback.parts.0', { text: 'x', data: 1 }],
    ['nodes.0.fallback.parts.0', { text: 5 }],
    ['nodes.0.output.schema', true],
    ['nodes.0.onWait', {}],
    ['nodes.0.onWait.default', 5],
    ['edges.0.when', 'x'],
    ['edges.0.loop', {}],
    ['edges.0.loop.max_iterations', 101],
    ['edges.0.loop.exit_when', 'iteration'],
  ])('refuses %s: %j', (path, value) => {
    expect(fits(having(path, value))).toBe(false);
  });
});
