import { ConfigError, loadConfig } from './load-config.js';

function problemsOf(value: string): readonly string[] {
  try {
    loadConfig({ SIGNALS_URL: value });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}

test.each([
  'nats://nats.example',
  'tls://nats.example:4222/',
  'nats://token@nats.example:4222',
  'nats://parley:p%40ss@one.example:4222,nats://parley:p%40ss@two.example:4222',
])('SIGNALS_URL %s is taken', (value) => {
  expect(loadConfig({ SIGNALS_URL: value }).signalsUrl).toBe(value);
});

test('without SIGNALS_URL there is none, and signals go over the database', () => {
  expect(loadConfig({}).signalsUrl).toBeUndefined();
});

const FORM =
  'SIGNALS_URL: must be a nats:// or tls:// URL such as nats://user:password@host:4222; several are separated by commas';
const CALLER = 'SIGNALS_URL: must have the same user and password, or token, in each of its URLs';

test.each([
  ['nats.example:4222', FORM],
  ['http://nats.example', FORM],
  ['nats://', FORM],
  ['nats://nats.example/subject', FORM],
  ['nats://nats.example?x=1', FORM],
  ['nats://user:%zz@nats.example', FORM],
  ['nats://one.example,redis://two.example', FORM],
  ['nats://user:secret@one.example,nats://two.example', CALLER],
])('SIGNALS_URL %s is refused, by its name alone', (value, line) => {
  expect(problemsOf(value)).toEqual([line]);
});
