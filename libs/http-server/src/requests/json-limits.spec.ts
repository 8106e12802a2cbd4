import fc from 'fast-check';
import fastify from 'fastify';
import { ProblemError } from '../problem.js';
import { hasMoreMembers, jsonBodyParser, refuseUnfitJson } from './request-bodies.js';

/** Returns the number of members and elements in a parsed value, which the scan of its text must find. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  return values.reduce((sum: number, it) => sum + membersOf(it), values.length);
}

/** Adds leading spaces to a JSON text, so that it is scanned like a long one. */
const long = (text: string): string => `${' '.repeat(10_000)}${text}`;

describe('members of a JSON text', () => {
  test.each([
    ['[]', 0],
    ['[[],{}]', 2],
    ['[1,2,3]', 3],
    ['{"a":{"b":[1, 2]}, "c":null}', 5],
    ['"a,b,[c"', 0],
    [String.raw`["a\",[,", "\\", "]"]`, 3],
  ])('%s has %d', (text, members) => {
    expect(hasMoreMembers(long(text), members)).toBe(false);
    if (members > 0) expect(hasMoreMembers(long(text), members - 1)).toBe(true);
  });

  test('are counted as a parser counts them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const members = membersOf(value);
        const text = long(JSON.stringify(value, undefined, indent));
        expect(hasMoreMembers(text, members)).toBe(false);
        if (members > 0) expect(hasMoreMembers(text, members - 1)).toBe(true);
      }),
    );
  });

  test('of what is no JSON are passed over', () => {
    for (const text of ['"', '[1,2', '\\\\"', '"\\', ']]]]'])
      expect(typeof hasMoreMembers(long(text), 100)).toBe('boolean');
  });
});

describe('JSON that could not be said again', () => {
  test.each([
    ['{"inputs":{"x":1e999}}', 'inputs.x', 'must be a finite number'],
    ['{"nodes":[{"config":{"at":[0,{"x":-1e400}]}}]}', 'nodes[0].config.at[1].x', 'must be a finite number'],
    ['[[1e999]]', '[0][0]', 'must be a finite number'],
    [`${'['.repeat(150)}1e999${']'.repeat(150)}`, '', 'the body is nested deeper than 100 levels'],
  ])('%j is refused', (text, path, detail) => {
    const entries = (): unknown => {
      try {
        return refuseUnfitJson(JSON.parse(text));
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        return error.errors;
      }
    };
    expect(entries()).toEqual([{ path, detail }]);
  });

  test('is nothing else', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => refuseUnfitJson(value)));
    refuseUnfitJson({ most: Number.MAX_VALUE, least: 5e-324, none: null, text: 'Infinity' });
  });
});

test('only a body that may name a prototype, or is no JSON, is searched by Fastify as well', () => {
  const searched: string[] = [];
  const parse = jsonBodyParser(
    { getDefaultJsonParser: () => (_request: unknown, text: string) => void searched.push(text) } as never,
    50_000,
  );
  const read: unknown[] = [];
  const send = (text: string): void => parse({} as never, Buffer.from(text), (_error, body) => read.push(body));
  const large = JSON.stringify({ text: '\\'.repeat(500_000), more: '${'.repeat(500_000) });
  for (const text of ['{"a":[1,2]}', large]) send(text);
  expect(searched).toEqual([]);
  expect(read).toEqual([{ a: [1, 2] }, JSON.parse(large)]);
  const suspicious = [String.raw`{"\u005f_proto__":{}}`, '{"__proto__":1}', '{"constructor":{}}', '', '{'];
  for (const text of suspicious) send(text);
  expect(searched).toEqual(suspicious);
});

test('a body that is not UTF-8 is refused, and nothing of it is read as another text', () => {
  const parse = jsonBodyParser(fastify(), 1_000);
  const read = (body: Buffer): unknown[] => {
    const reported: unknown[] = [];
    parse({} as never, body, (...answer) => reported.push(...answer));
    return reported;
  };
  const detail = 'the body must be UTF-8';
  expect(read(Buffer.from('{"name":"José"}', 'latin1'))).toEqual([
    expect.objectContaining({ status: 400, errors: [{ path: '', detail }] }),
  ]);
  expect(read(Buffer.from('{"name":"José"}'))).toEqual([null, { name: 'José' }]);
});
