/** Docstrings of sources, and those that begin with a clause or a pronoun instead of a verb or a noun. */

const DOCSTRING = /\/\*\*([^]*?)\*\//g;
const OPENINGS = [
  ...['What', 'Whether', 'Of', 'As', 'It', 'Its', 'One', 'Those', 'Who', 'Whom', 'Whose', 'Whoever', 'Nobody', 'Where'],
  ...['When', 'While', 'The same', 'Absent', 'That', 'This', 'They', 'These', 'There', 'If', 'Each of', 'For', 'In'],
  ...[
    'On',
    'At',
    'By',
    'With',
    'Without',
    'So',
    'How',
    'Which',
    'Not',
    'None',
    'Some',
    'Any',
    'All that',
    'Only',
    'No',
  ],
  ...['Because', 'Until', 'Since', 'From', 'To', 'Once'],
];
const CLAUSE = new RegExp(`^(?:${OPENINGS.join('|')})\\b`);

/** Returns the docstrings of a source, each `{ text, path, line, isClause }` with its text on one line. */
export function docstringsOf({ path, text }) {
  let [line, at] = [1, 0];
  return [...text.matchAll(DOCSTRING)].map(({ 1: body, index }) => {
    line += text.slice(at, index).split('\n').length - 1;
    at = index;
    const words = body
      .replace(/^[ \t]*\* ?/gm, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    return { text: words, path, line, isClause: CLAUSE.test(words) };
  });
}
