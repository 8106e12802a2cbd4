import { mayGoTo, originOf } from './credential.js';

it.each([
  ['api.example.com', 'https://api.example.com'],
  ['API.example.com:8443', 'https://api.example.com:8443'],
  ['https://api.example.com:443', 'https://api.example.com'],
  ['http://localhost:9000/', 'http://localhost:9000'],
  ['[::1]:9000', 'https://[::1]:9000'],
])('the host %s is the origin %s', (entry, origin) => {
  expect(originOf(entry)).toBe(origin);
});

it.each([
  '',
  '*.example.com',
  'https://',
  'a b',
  'user@example.com',
  'example.com/path',
  'example.com?q',
  'https://u:p@example.com',
  'ftp://example.com',
])('%j is no host', (entry) => {
  expect(originOf(entry)).toBeUndefined();
});

it('goes to the origin that the caller named, or to hosts of its own', () => {
  const endpoint = new URL('https://a.test/rpc');
  expect(mayGoTo({ kind: 'bearer' }, endpoint, 'https://a.test/agent')).toBe(true);
  for (const named of ['http://a.test', 'https://a.test:8443', 'https://b.test', 'https://a.test.evil.test', 'x'])
    expect(mayGoTo({ kind: 'bearer' }, endpoint, named)).toBe(false);
  expect(mayGoTo({ kind: 'bearer' }, endpoint, undefined)).toBe(false);
  expect(mayGoTo({ kind: 'bearer', hosts: ['https://a.test'] }, endpoint, undefined)).toBe(true);
  expect(mayGoTo({ kind: 'bearer', hosts: ['https://a.test'] }, endpoint, 'https://b.test')).toBe(true);
  expect(mayGoTo({ kind: 'bearer', hosts: ['https://b.test'] }, endpoint, 'https://a.test')).toBe(false);
});
