import fc from 'fast-check';
import { AddressGuard } from './guarded-agent.js';

const strict = new AddressGuard({ allow: [], loopback: false });

describe('AddressGuard', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '100.63.255.255',
    '172.32.0.1',
    '2606:2800:220:1::1',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ])('lets the public address %s through', (address) => {
    expect(strict.permitsAddress('agent.example', 443, address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::10.0.0.1',
    '64:ff9b::10.0.0.1',
    '2002:a00:1::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '100::1',
    'not-an-address',
  ])('refuses %s', (address) => {
    expect(strict.permitsAddress('agent.example', 443, address)).toBe(false);
  });

  it('lets loopback through where the service itself is on loopback only, and nothing else with it', () => {
    const local = new AddressGuard({ allow: [], loopback: true });
    expect(
      ['127.0.0.1', '::1', '::ffff:127.0.0.1'].map((address) => local.permitsAddress('localhost', 80, address)),
    ).toEqual([true, true, true]);
    expect(['10.0.0.1', '169.254.169.254', '0.0.0.0'].map((address) => local.permitsAddress('x', 80, address))).toEqual(
      [false, false, false],
    );
  });

  it('allows ranges and addresses for every name, and names for every address', () => {
    const guard = new AddressGuard({
      allow: ['10.1.0.0/16', 'fd00::/8', 'Agents.Internal', '192.168.7.7'],
      loopback: false,
    });
    expect(guard.permitsAddress('x', 80, '10.1.255.1')).toBe(true);
    expect(guard.permitsAddress('x', 80, '::ffff:10.1.2.3')).toBe(true);
    expect(guard.permitsAddress('x', 80, '10.2.0.1')).toBe(false);
    expect(guard.permitsAddress('x', 80, 'fd00::5')).toBe(true);
    expect(guard.permitsAddress('x', 80, '192.168.7.7')).toBe(true);
    expect(guard.permitsAddress('x', 80, '192.168.7.8')).toBe(false);
    expect(guard.permitsAddress('agents.internal.', 80, '10.9.9.9')).toBe(true);
    expect(guard.permitsAddress('other.internal', 80, '10.9.9.9')).toBe(false);
  });

  it('allows one origin with its port only', () => {
    const guard = new AddressGuard({ allow: [], loopback: false });
    guard.allowOrigin('http://127.0.0.1:3000/a2a');
    guard.allowOrigin('https://[fd00::1]');
    expect(guard.permitsAddress('127.0.0.1', 3000, '127.0.0.1')).toBe(true);
    expect(guard.permitsAddress('127.0.0.1', 5432, '127.0.0.1')).toBe(false);
    expect(guard.permitsAddress('[fd00::1]', 443, 'fd00::1')).toBe(true);
  });

  it('judges an IPv4-mapped address as the IPv4 address, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
        const hex = `::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const expected = strict.permitsAddress('x', 80, address);
        expect(strict.permitsAddress('x', 80, `::ffff:${address}`)).toBe(expected);
        expect(strict.permitsAddress('x', 80, hex)).toBe(expected);
      }),
    );
  });
});
