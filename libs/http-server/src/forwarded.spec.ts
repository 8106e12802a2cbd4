import type { IncomingHttpHeaders } from 'node:http';
import { forwardedHost, type IncomingRequest, requestedBaseUrl, TrustedProxies } from './service-address.js';

const proxies = new TrustedProxies(['10.0.0.0/8', '::1']);
const FORWARDED = {
  host: 'inside:3000',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'agents.example.com',
  'x-forwarded-prefix': '/parley/',
};

describe('requestedBaseUrl', () => {
  it('takes the Host header and the scheme of the connection', () => {
    expect(requestedBaseUrl(request({ host: 'a.example:3000' }), proxies)).toBe('http://a.example:3000');
    expect(requestedBaseUrl(request({ host: '[::1]:3000' }, '192.0.2.1', true), proxies)).toBe('https://[::1]:3000');
  });

  it('believes forwarded headers from a trusted proxy only', () => {
    expect(requestedBaseUrl(request(FORWARDED, '192.0.2.1'), proxies)).toBe('http://inside:3000');
    expect(requestedBaseUrl(request(FORWARDED, undefined), proxies)).toBe('http://inside:3000');
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '::1']) {
      expect(requestedBaseUrl(request(FORWARDED, address), proxies)).toBe('https://agents.example.com/parley');
    }
  });

  it('takes the last entry of a list, which the proxy itself wrote', () => {
    const headers = {
      host: 'inside',
      'x-forwarded-host': 'evil.example, good.example',
      'x-forwarded-proto': 'http,https',
    };
    expect(requestedBaseUrl(request(headers, '10.0.0.1'), proxies)).toBe('https://good.example');
  });

  it('behind several trusted proxies takes what the outermost of them saw', () => {
    const headers = {
      host: 'inside',
      'x-forwarded-for': '203.0.113.9, 192.0.2.7, 10.0.0.2, [::1]:4711',
      'x-forwarded-host': 'evil.example, agents.example.com, middle.internal, inner.internal',
      'x-forwarded-proto': 'https, http, http',
      'x-forwarded-prefix': '/evil, /, /team, /parley/',
    };
    expect(requestedBaseUrl(request(headers, '10.0.0.1'), proxies)).toBe('https://agents.example.com/team/parley');
  });

  it('does not count an address that the client wrote before the one it came from', () => {
    const headers = {
      host: 'inside',
      'x-forwarded-for': '10.9.9.9, 192.0.2.7',
      'x-forwarded-host': 'evil.example, agents.example.com',
      'x-forwarded-prefix': '/evil, /team',
    };
    expect(requestedBaseUrl(request(headers, '10.0.0.1'), proxies)).toBe('http://agents.example.com/team');
  });

  it('takes the one entry that the proxies handed on', () => {
    const headers = {
      host: 'inside',
      'x-forwarded-for': '192.0.2.7, 10.0.0.2',
      'x-forwarded-host': '[2001:db8::1]:8443',
    };
    expect(requestedBaseUrl(request(headers, '::1'), proxies)).toBe('http://[2001:db8::1]:8443');
  });

  it('ignores a scheme and a prefix that are none', () => {
    const headers = { host: 'inside', 'x-forwarded-proto': 'javascript', 'x-forwarded-prefix': '//evil.example' };
    expect(requestedBaseUrl(request(headers, '10.0.0.1'), proxies)).toBe('http://inside');
  });

  it.each(['/..', '/a/../b', '/a b', 'a', '/a?b', '/a,//evil'])('has no prefix of %j', (prefix) => {
    const headers = { host: 'inside', 'x-forwarded-for': '10.0.0.3', 'x-forwarded-prefix': prefix };
    expect(requestedBaseUrl(request(headers, '10.0.0.1'), proxies)).toBe('http://inside');
  });

  it.each([
    undefined,
    '',
    'a b',
    'a/b',
    'user@evil.example',
    'a.example:port',
    'a"b',
    'a:65536',
    '1.2.3.4.5',
    '[1::2::3]',
  ])('has no answer to the host %p', (host) => {
    expect(requestedBaseUrl(request({ host }), proxies)).toBeUndefined();
  });
});

describe('forwardedHost', () => {
  it('is what the outermost trusted proxy says, whatever that is, and nothing where no such proxy says so', () => {
    expect(forwardedHost(request(FORWARDED, '10.0.0.1'), proxies)).toBe('agents.example.com');
    expect(forwardedHost(request({ 'x-forwarded-host': 'evil, a b' }, '::1'), proxies)).toBe('a b');
    expect(forwardedHost(request(FORWARDED, '192.0.2.1'), proxies)).toBeUndefined();
    expect(forwardedHost(request({ host: 'inside' }, '10.0.0.1'), proxies)).toBeUndefined();
  });
});

function request(
  headers: IncomingHttpHeaders,
  remoteAddress: string | undefined = '192.0.2.1',
  encrypted = false,
): IncomingRequest {
  return { headers, socket: { remoteAddress, encrypted } };
}
