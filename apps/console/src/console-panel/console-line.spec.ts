import { copyOf, filterLines, toConsoleLine, NO_FILTER } from './console-line.js';

const event = (type: string, more: object = {}) => ({ type, timestamp: '2026-11-22T10:00:00.123Z', ...more });
const LINES = [
  toConsoleLine(event('node.started', { payload: { workflow: 'w' } }), '1'),
  toConsoleLine(event('a2a.sending', { node_id: 'a', url: 'http://agent', payload: {} }), '2'),
  toConsoleLine(event('node.completed', { node_id: 'b', output: 'Done', payload: {} }), '3'),
];

describe('lines of the console', () => {
  it('show an event by the rows, and one without any of their parts by what it carries', () => {
    expect(LINES.map(({ text }) => text)).toEqual(['{"workflow":"w"}', '[a] → http://agent', '[b] output: Done']);
  });

  it.each([
    [{}, ['1', '2', '3']],
    [{ node: 'b' }, ['3']],
    [{ type: 'a2a.sending' }, ['2']],
    [{ search: ' DONE ' }, ['3']],
    [{ search: 'sending' }, ['2']],
    [{ node: 'a', search: 'done' }, []],
  ])('filtered by %j are %j', (filter, keys) => {
    expect(filterLines(LINES, { ...NO_FILTER, ...filter }).map(({ key }) => key)).toEqual(keys);
  });

  it('tell a run that failed by its colour', () => {
    const color = (status: string) => toConsoleLine(event('done', { status, payload: {} }), '1').color;
    expect([color('completed'), color('failed'), color('canceled')]).toEqual([
      expect.stringContaining('node-output'),
      expect.stringContaining('destructive'),
      expect.stringContaining('muted'),
    ]);
  });

  it('are copied with their time and type', () => {
    expect(copyOf(LINES.slice(2))).toMatch(/^\d\d:\d\d:\d\d[.,]123 node\.completed \[b\] output: Done$/);
  });
});
