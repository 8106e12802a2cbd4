import { ProblemError } from '../problem.js';
import { readQuery } from './api-validation-pipe.js';
import { PageQuery, pageTokenAfter, QueryFlag, QueryPageSize, QueryText, QueryTime, QueryWord } from './page-query.js';

class Wanted extends PageQuery {
  @QueryWord(['up', 'down'])
  way?: 'up' | 'down';

  @QueryText((text) => /^\w+$/.test(text), 'must be a word')
  name?: string;

  @QueryText(() => true, '')
  anything?: string;

  @QueryTime()
  since?: Date;

  @QueryFlag()
  strict = false;
}

class Strict extends PageQuery {
  static readonly unknown = 'is not known';
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

  it('ignores unknown parameters, unless the class refuses them', () => {
    expect(readQuery(Wanted, { nmae: 'a' })).toEqual({ pageSize: 50, strict: false });
    expect(() => readQuery(Strict, { pageSize: '7', nmae: 'a' })).toThrow('nmae: is not known');
    expect(readQuery(Strict, { pageSize: '7' }).pageSize).toBe(7);
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

  it('reads times, also without seconds', () => {
    for (const since of ['2026-01-31T09:30:00Z', '2026-01-31T11:30+02:00', '2026-01-31T09:30Z'])
      expect(readQuery(Wanted, { since }).since).toEqual(new Date(Date.UTC(2026, 0, 31, 9, 30)));
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
    ['since', 'yesterday', 'must be a time such as 2026-01-31T09:30:00Z'],
    ['since', '2026-02-30T00:00:00Z', 'must be a time such as 2026-01-31T09:30:00Z'],
    ['since', '2026-02-30T00:00Z', 'must be a time such as 2026-01-31T09:30:00Z'],
    ['since', '0000-01-01T00:00:00Z', 'must be a time such as 2026-01-31T09:30:00Z'],
    ['strict', 'yes', 'must be true or false'],
    ['strict', ['true', 'true'], 'must be given once'],
  ])('refuses %s=%j by name', (name, value, detail) => {
    expect(refused({ [name]: value })).toEqual([`${name}: ${detail}`]);
  });
});
