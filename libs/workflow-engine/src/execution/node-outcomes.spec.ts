import { type Artifact, dataPart, type JsonValue } from '#libs/protocol';
import type { NodeInstance } from '../state/node-instance.js';
import { roundedResult, roundedToolResult } from './node-outcomes.js';

const node = (type: string): NodeInstance => ({ id: 'n', type, instance: 'n' }) as NodeInstance;
const data = (text: string): JsonValue => JSON.parse(text) as JsonValue;
const artifact = (text: string): Artifact => ({ artifactId: 'a', parts: [{ text: 'x' }, dataPart(data(text))] });

describe('an integer that a double cannot hold', () => {
  it('is reported with its path, in an input, a result and what a tool gave', () => {
    const text = '{"orders":[{"id":3544790567247868102},{"id":-12345678901234567}]}';
    const paths = (notes: { payload: { path?: unknown } }[]): unknown[] => notes.map(({ payload }) => payload.path);
    expect(paths(roundedResult(node('input'), [artifact(text)]))).toEqual([
      'inputs.n.orders[0].id',
      'inputs.n.orders[1].id',
    ]);
    expect(paths(roundedResult(node('external'), [artifact(text)]))[0]).toBe('output.orders[0].id');
    expect(roundedToolResult(node('agent'), data('3544790567247868102'))).toEqual([
      {
        type: 'number.rounded',
        node_id: 'n',
        node_type: 'agent',
        payload: {
          path: 'result',
          value: 3544790567247868000,
          message: 'result may have been rounded: give integers beyond 2^53 as texts',
        },
      },
    ]);
  });

  it.each([
    '9007199254740992',
    '-9007199254740992',
    '1e20',
    '100000000000000000000',
    '0.1',
    '1e308',
    '"3544790567247868102"',
  ])('is not what %s is', (text) => {
    expect(roundedToolResult(node('agent'), data(`[${text}]`))).toEqual([]);
  });

  it('is reported ten times at most, and looked for without recursion', () => {
    expect(
      roundedToolResult(
        node('agent'),
        Array.from({ length: 50_000 }, () => 3544790567247868000),
      ),
    ).toHaveLength(10);
    const deep = data(`${'['.repeat(50_000)}3544790567247868102${']'.repeat(50_000)}`);
    expect(roundedToolResult(node('agent'), deep)[0]?.payload['path']).toHaveLength(200);
    expect(roundedResult(node('agent'), [])).toEqual([]);
    expect(roundedToolResult(node('agent'), undefined)).toEqual([]);
  });
});
