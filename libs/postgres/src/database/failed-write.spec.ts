import { classifyWriteFailure, mayBeCommitted, mayBreakSession, StatementNotSent } from './outage.js';

const failure = (code: string, severity = 'ERROR'): Error => Object.assign(new Error(code), { code, severity });

test.each([
  ['25006', 'server'],
  ['53100', 'server'],
  ['53300', 'server'],
  ['57P01', 'server'],
  ['57P03', 'server'],
  ['22P02', 'refused'],
  ['23514', 'refused'],
  ['P0001', 'refused'],
  ['08006', 'unknown'],
  ['0A000', 'unknown'],
  ['40P01', 'unknown'],
  ['42501', 'unknown'],
  ['42P01', 'unknown'],
  ['53200', 'unknown'],
  ['53400', 'unknown'],
  ['54000', 'unknown'],
  ['55P03', 'unknown'],
  ['57014', 'unknown'],
  ['58030', 'unknown'],
  ['XX000', 'unknown'],
  ['XX001', 'unknown'],
  ['ECONNRESET', 'unknown'],
])('a write that fails with %s is classified as %s', (code, expected) => {
  expect(classifyWriteFailure(failure(code))).toBe(expected);
});

test('a session that the server ended says nothing of what was written, unless the connection or the server broke', () => {
  expect(classifyWriteFailure(failure('3D000', 'FATAL'))).toBe('server');
  expect(classifyWriteFailure(failure('08P01', 'FATAL'))).toBe('unknown');
});

test('a statement that could not be made is refused content', () => {
  expect(classifyWriteFailure(new RangeError('too large'))).toBe('refused');
});

test('a statement that was not sent is sent again: nothing of it is committed, and its session is as it was', () => {
  const notSent = new StatementNotSent();
  const answers = [classifyWriteFailure(notSent), mayBeCommitted(notSent), mayBreakSession(notSent)];
  expect(answers).toEqual(['server', false, false]);
});

test.each([
  ['08006', true, true],
  ['XX000', true, false],
  ['57P01', false, true],
  ['40003', false, true],
  ['53200', false, false],
  ['22P02', false, false],
  ['EPIPE', true, true],
])('after %s the session may be broken: %s; the transaction may be committed: %s', (code, broken, committed) => {
  expect([mayBreakSession(failure(code)), mayBeCommitted(failure(code))]).toEqual([broken, committed]);
});
