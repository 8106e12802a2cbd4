import { ServedHosts } from './browser-guard.js';

const hosts = new ServedHosts([
  'agents.example.com',
  'parley:3000',
  '*.apps.example.com',
  'web.example.com:443',
  '[2001:db8::1]',
]);
const REACHED = { localAddress: '::ffff:192.0.2.7' };

describe('ServedHosts', () => {
  it.each([
    'localhost:3000',
    'LOCALHOST.',
    'a.localhost',
    '127.8.8.8',
    '[::1]:3000',
    'Agents.Example.com',
    'agents.example.com.:8443',
    'parley:3000',
    'x.apps.example.com',
    'web.example.com',
    'web.example.com:443',
    '[2001:DB8::1]:3000',
    '192.0.2.7:3000',
  ])('serves %s', (host) => {
    expect(hosts.servesHost(host, REACHED)).toBe(true);
    expect(hosts.servesHost(host, REACHED)).toBe(true);
  });

  it.each([
    'evil.example',
    'evil-agents.example.com',
    'parley',
    'parley:3001',
    'apps.example.com',
    'evilapps.example.com',
    'web.example.com:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.0.2.8',
    '[2001:db8::2]',
    '[::ffff:127.0.0.1]',
    'localhost:3000/x',
    'a@localhost',
    '',
    undefined,
  ])('does not serve %s', (host) => {
    expect(hosts.servesHost(host, REACHED)).toBe(false);
    expect(hosts.servesHost(host, REACHED)).toBe(false);
  });

  it('serves the address of the connection, whatever another was made to', () => {
    expect(hosts.servesHost('10.0.0.1', { localAddress: '10.0.0.1' })).toBe(true);
    expect(hosts.servesHost('10.0.0.1', { localAddress: '10.0.0.2' })).toBe(false);
    expect(hosts.servesHost('[fe80::1]', { localAddress: 'fe80::1%eth0' })).toBe(true);
    expect(hosts.servesHost('10.0.0.1', {})).toBe(false);
  });

  it('serves all where it is told to', () => {
    expect(new ServedHosts(['a', '*']).servesHost(undefined, {})).toBe(true);
  });

  it('goes on telling right from wrong after many hosts', () => {
    for (let n = 0; n < 2_000; n += 1) expect(hosts.servesHost(`h${n}.example`, {})).toBe(false);
    expect(hosts.servesHost('localhost', {})).toBe(true);
  });
});
