import { PassThrough } from 'node:stream';
import { ShownAnswer } from './chat-session.js';
import { Terminal } from './terminal.js';

let seen: string;
let terminal: Terminal;

function terminalOf(isTTY: boolean): Terminal {
  const stream = { isTTY, columns: 80, write: (text: string) => (seen += text) };
  return new Terminal({ out: stream, err: { ...stream }, input: new PassThrough(), env: {} });
}

beforeEach(() => {
  seen = '';
  terminal = terminalOf(true);
});

function shown(text: string, ...pieces: string[]): string {
  const answer = new ShownAnswer(terminal);
  for (const piece of pieces) answer.piece(piece);
  answer.finishAnswer({ text }, ' [completed]');
  return seen;
}

describe('ShownAnswer', () => {
  it('shows what comes, and then the rest', () => {
    expect(shown('one two three', 'one ', 'two')).toBe('agent> one two three [completed]\n');
  });

  it('shows whole what came whole', () => {
    expect(shown('one')).toBe('agent> one [completed]\n');
  });

  it('shows another answer in a line of its own', () => {
    expect(shown('It is done.', 'one ', 'two')).toBe('agent> one two\nagent> It is done. [completed]\n');
  });

  it('does not say again what was made in a turn before', () => {
    expect(shown('before\nnow', 'now')).toBe('agent> now [completed]\n');
  });

  it.each([
    ['on a terminal', true, 'agent> one \n… thinking\ntwo\n'],
    ['nowhere else', false, 'agent> one … thinking\ntwo\n'],
  ])('breaks the line for what is said beside the answer %s', (_, isTTY, expected) => {
    const answer = new ShownAnswer(terminalOf(isTTY));
    answer.piece('one ');
    answer.working('thinking');
    answer.piece('two');
    answer.finishAnswer({ text: 'one two' }, '');
    expect(seen).toBe(expected);
  });

  it('ends with no empty line where the line was broken at its end', () => {
    const answer = new ShownAnswer(terminal);
    answer.piece('one');
    answer.working('thinking');
    answer.finishAnswer({ text: 'one' }, '');
    expect(seen).toBe('agent> one\n… thinking\n');
  });

  it('hands no terminal what it would act on', () => {
    expect(shown('a\u001b[2Jb', 'a\u001b', '[2J')).toBe('agent> a[2Jb [completed]\n');
  });

  it('writes a failure to standard error, after the Artifacts', () => {
    const out = { isTTY: true, columns: 80, write: (text: string) => (seen += text) };
    const err = { write: (text: string) => (seen += `2: ${text}`) };
    const answer = new ShownAnswer(new Terminal({ out, err, input: new PassThrough(), env: {} }));
    answer.finishAnswer({ text: 'half', message: 'no tea', state: 'TASK_STATE_FAILED' }, ' [failed]');
    answer.finishAnswer({ text: 'no tea', message: 'no tea', state: 'TASK_STATE_FAILED' }, ' [failed]');
    answer.finishAnswer({ text: 'tea', message: 'Served', state: 'TASK_STATE_COMPLETED' }, ' [completed]');
    expect(seen.split('\n')).toEqual([
      'agent> half',
      '2: agent> no tea [failed]',
      '2: agent> no tea [failed]',
      'agent> tea [completed]',
      '2: … Served',
      '',
    ]);
  });

  it('gives programs one document', () => {
    terminal.json = true;
    expect(shown('one two', 'one ')).toBe('{"text":"one two"}\n');
  });
});
