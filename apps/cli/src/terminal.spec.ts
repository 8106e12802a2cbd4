import { PassThrough } from 'node:stream';
import { Terminal } from './terminal.js';

function terminal(isTTY: boolean, env: Record<string, string> = {}): { it: Terminal; seen: { text: string } } {
  const seen = { text: '' };
  const stream = { isTTY, write: (text: string) => (seen.text += text) };
  return { it: new Terminal({ out: stream, err: stream, input: new PassThrough(), env }), seen };
}

describe('Terminal', () => {
  it('has colours for terminals alone, and not where they are not wanted', () => {
    const red = '\u001b[31mno\u001b[0m';
    const painted = [
      terminal(true),
      terminal(false),
      terminal(true, { NO_COLOR: '1' }),
      terminal(true, { TERM: 'dumb' }),
    ];
    expect(painted.map(({ it }) => it.paintText('red', 'no'))).toEqual([red, 'no', 'no', 'no']);
  });

  it('takes from what others wrote what a terminal would act on, and nothing where none is', () => {
    const evil = 'a\u001b[2J\tb\r\nc\u009b31m';
    expect(terminal(true).it.stripControls(evil)).toBe('a[2J\tb\nc31m');
    expect(terminal(false).it.stripControls(evil)).toBe(evil);
    const { it: there, seen } = terminal(true);
    there.writeError({}, evil);
    expect(seen.text).toBe('a[2J\tb\nc31m\n');
  });

  it('lines up tables, whatever their colours', () => {
    const { it: there } = terminal(true);
    expect(there.formatTable(['A', 'B'], [[there.paintText('red', 'long'), 'x']])).toBe(
      '\u001b[2mA     B\u001b[0m\n\u001b[31mlong\u001b[0m  x',
    );
  });
});
