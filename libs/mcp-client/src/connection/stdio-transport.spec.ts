import { LineReader } from './stdio-transport.js';

function linesOf(pieces: string[], longest = 100): { lines: string[]; goesOn: boolean } {
  const lines: string[] = [];
  const reader = new LineReader(longest, (line) => lines.push(line));
  const goesOn = pieces.every((it) => reader.feedBytes(Buffer.from(it, 'latin1')));
  return { lines, goesOn };
}

test.each([
  ['one', ['{"a":1}\n'], ['{"a":1}']],
  ['several in one piece', ['a\nb\nc'], ['a', 'b']],
  ['one in several pieces', ['a', 'b', 'c\nd'], ['abc']],
  ['empty ones', ['\n\n \r\na\n'], ['a']],
  ['half a character at the end of a piece', ['\xc3', '\xa9\n'], ['é']],
])('%s', (_, pieces, lines) => {
  expect(linesOf(pieces)).toEqual({ lines, goesOn: true });
});

test('a line that is too long ends it', () => {
  expect(linesOf(['a\n', 'x'.repeat(60), 'x'.repeat(60)])).toEqual({ lines: ['a'], goesOn: false });
  expect(linesOf(['x'.repeat(100), '\n'])).toEqual({ lines: ['x'.repeat(100)], goesOn: true });
});
