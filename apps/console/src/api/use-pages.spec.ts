import { type Rows, withFirstPage, withNextPage } from './use-pages.js';

const rows = (text: string, nextPageToken = ''): Rows<string> => ({ rows: [...text], nextPageToken });
const keyOf = (row: string): string => row;

describe('withNextPage', () => {
  it('appends, and shows no row twice', () => {
    expect(withNextPage(rows('abc', '1'), rows('cde', '2'), keyOf)).toEqual(rows('abcde', '2'));
  });
});

describe('withFirstPage', () => {
  it('puts what is new and what has moved first, and keeps the rest and its token', () => {
    expect(withFirstPage(rows('abcdef', '2'), rows('xea', '1'), keyOf)).toEqual(rows('xeabcdf', '2'));
  });

  it('drops a row that has left the list, by its place', () => {
    const placeOf = (row: string): string => String(9 - 'abcdefghi'.indexOf(row));
    expect(withFirstPage(rows('abcdef', '2'), rows('ac', '1'), keyOf, placeOf)).toEqual(rows('acdef', '2'));
  });

  it('stands alone where rows are missing between the two', () => {
    expect(withFirstPage(rows('abc', '1'), rows('xyz', '9'), keyOf)).toEqual(rows('xyz', '9'));
  });

  it('is all there is where no page follows it', () => {
    expect(withFirstPage(rows('abc', '1'), rows('ac'), keyOf)).toEqual(rows('ac'));
  });

  it('takes the token of a first page that holds all that was shown', () => {
    expect(withFirstPage(rows('ab', ''), rows('xab', '1'), keyOf)).toEqual(rows('xab', '1'));
  });

  it('keeps the objects of rows that have not changed, so that they are not drawn again', () => {
    const shown = {
      rows: [
        { id: 'a', at: 1 },
        { id: 'b', at: 1 },
      ],
      nextPageToken: '',
    };
    const first = {
      rows: [
        { id: 'a', at: 2 },
        { id: 'b', at: 1 },
      ],
      nextPageToken: '',
    };
    const { rows: kept } = withFirstPage(shown, first, ({ id }) => id);
    expect(kept).toEqual(first.rows);
    expect(kept[1]).toBe(shown.rows[1]);
  });
});
