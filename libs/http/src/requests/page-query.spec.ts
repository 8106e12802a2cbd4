import { ProblemError } from '../problems/problem.js';
import { PageQuery, pageTokenAfter } from './page-query.js';
import { QueryFlag, QueryPageSize, QueryText, QueryWord } from './query-rules.js';
import { readQuery } from './read-query.js';

class Wanted extends PageQuery {
  @QueryWord(['up', 'down'])
  way?: 'up' | 'down';

  @QueryText((text) => /^\w+$/.test(text), 'must be a word')
  name?: string;

  @QueryText(() => true, '')
  anything?: string;

  @QueryFlag()
  strict = false;
}

class Lenient {
  @QueryPageSize(50)
  pageSize = 50;
}

function refused(query: Record<string, unknown>): string[] {
  try {
    readQuery(Wanted, query);
  } catch (error) {
    if (error instanceof ProblemError) return error.errors.map(({ path, detail }) => `${path}: ${detail}`);
    throw error;
  }
  return [];
}

describe('query parameters', () => {
  it('has defaults', () => {
    expect(readQuery(Wanted, {})).toEqual({ pageSize: 50, strict: false });
    expect(readQuery(Wanted, { pageToken: '' }).before).toBeUndefined();
    expect(readQuery(Lenient, { pageSize: '' }).pageSize).toBe(50);
  });

  it('reads what it is given, and its own tokens', () => {
    const before = { updatedAt: new Date(1_700_000_000_123), taskId: '0190-abc' };
    const query = readQuery(Wanted, {
      pageSize: '7',
      pageToken: pageTokenAfter(before),
      way: 'up',
      name: 'x',
      strict: 'true',
    });
    expect(query).toMatchObject({ pageSize: 7, before, way: 'up', name: 'x', strict: true });
  });

  it('is not changed by parameters that nobody knows', () => {
    const query = readQuery(Wanted, { before: 'x', constructor: 'y', toString: 'z' });
    expect(query).toBeInstanceOf(Wanted);
    expect([query.before, String(query)]).toEqual([undefined, '[object Object]']);
  });

  it.each([
    ['pageSize', '', 'must be a number from 1 to 100'],
    ['pageSize', '0', 'must be a number from 1 to 100'],
    ['pageSize', '101', 'must be a number from 1 to 100'],
    ['pageSize', '1e1', 'must be a number from 1 to 100'],
    ['pageSize', ['1', '2'], 'must be given once'],
    ['pageToken', 'x', 'is not a token of this list'],
    ['pageToken', Buffer.from('99999999999999999.a').toString('base64url'), 'is not a token of this list'],
    ['pageToken', Buffer.from('1.\u0000').toString('base64url'), 'is not a token of this list'],
    ['pageToken', ['a', 'b'], 'must be given once'],
    ['way', 'constructor', 'must be one of up, down'],
    ['way', '', 'must be one of up, down'],
    ['way', ['up', 'down'], 'must be given once'],
    ['name', 'a b', 'must be a word'],
    ['name', ['a', 'b'], 'must be given once'],
    ['anything', 'a\u0000b', 'must not contain a NUL character'],
    ['anything', ['\u0000', 'b'], 'must be given once'],
    ['strict', 'yes', 'must be true or false'],
    ['strict', ['true', 'true'], 'must be given once'],
  ])('refuses %s=%j by name', (name, value, detail) => {
    expect(refused({ [name]: value })).toEqual([`${name}: ${detail}`]);
  });
});
