import { readHost } from './browser-guard.js';

describe('readHost', () => {
  it.each([
    ['localhost', 'localhost', ''],
    ['Agents.Example.COM:443', 'agents.example.com', '443'],
    ['localhost.:3000', 'localhost', '3000'],
    ['127.0.0.1:3000', '127.0.0.1', '3000'],
    ['[::1]', '::1', ''],
    ['[2001:DB8::1]:8443', '2001:db8::1', '8443'],
  ])('%s', (text, name, port) => expect(readHost(text)).toEqual({ name, port }));

  it.each([
    '',
    '.',
    '..',
    'a..',
    'a b',
    'a/b',
    'user@a',
    '::1',
    '[::1',
    '[::1]x',
    'a:',
    'a:b',
    'a:123456',
    'a,b',
    'ä',
    '[fe80::1%eth0]',
  ])('finds no host in %j', (text) => expect(readHost(text)).toBeUndefined());
});
