import { apiQuery, countFilters, filterQuery, readRunFilter } from './run-filter.js';

const read = (query: string) => readRunFilter(new URLSearchParams(query));

describe('The filter of the list of runs', () => {
  it('survives its way through the address', () => {
    const query = 'q=order+4711&status=completed%2Cfailed&workflow=greeting&range=24h&cause=nV2pX0q7c3L8sTfA';
    const filter = read(query);
    expect(filterQuery(filter).toString()).toBe(query);
    expect(countFilters(filter)).toBe(5);
    expect(countFilters(read(''))).toBe(0);
  });

  it('leaves out what it does not know', () => {
    expect(filterQuery(read('status=done&range=2y&since=noon&cause=x&page=7')).toString()).toBe('');
    expect(read(`q=${'x'.repeat(200)}`).q).toHaveLength(100);
  });

  it('gives the API a time for a range', () => {
    const now = Date.UTC(2026, 0, 31, 12);
    const asked = (query: string) => Object.fromEntries(apiQuery(read(query), now));
    expect(asked('q=+a+&range=1h&until=2026-01-31T12:00:00Z')).toEqual({
      search: 'a',
      since: '2026-01-31T11:00:00.000Z',
      until: '2026-01-31T12:00:00.000Z',
    });
    expect(asked('q=a&cause=nV2pX0q7c3L8sTfA')).toEqual({ cause: 'nV2pX0q7c3L8sTfA' });
    expect(asked('since=2026-01-01T00:00:00Z')).toEqual({ since: '2026-01-01T00:00:00.000Z' });
  });
});
