import { isBounded } from './markdown-bounds.js';

describe('a text that is laid out as markdown', () => {
  it.each([
    ['nothing', ''],
    [
      'a report',
      '## Part\n\nIt **is** `so`, see [there](https://a.example) - or _not_.\n\n- one\n  1. two\n\n'.repeat(300),
    ],
    ['a table', '| a | b | c |\n| --- | :-: | --- |\n' + '| 1 | 2 | 3 |\n'.repeat(1_000)],
    ['lines', `${'-'.repeat(200)}\n\n${'* * * * * '}\n\n${'='.repeat(200)}`],
    ['a quote of a quote', `${'> '.repeat(15)}deep\n`.repeat(20)],
    ['prose', 'It is well-known: what is read is short. (Not always.) '.repeat(900)],
  ])('is %s', (_, text) => expect(isBounded(text)).toBe(true));

  it.each([
    ['a long one', 'a'.repeat(50_001)],
    ['quotes in quotes', '> '.repeat(20)],
    ['lists in lists', `well\n  ${'1. '.repeat(20)}`],
    ['what may be emphasis', 'a*'.repeat(5_001)],
    ['many short quotes', `${'> '.repeat(19)}a\n\n`.repeat(270)],
    ['a table that is filled up', `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${'|\n'.repeat(200)}`],
  ])('is not %s', (_, text) => expect(isBounded(text)).toBe(false));
});
