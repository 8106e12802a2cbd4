import fc from 'fast-check';
import { AddressGuard } from './guarded-agent.js';

const strict = new AddressGuard({ allow: [], loopback: false });
const local = new AddressGuard({ allow: [], loopback: true });

function permits(address: string, guard = strict): boolean {
  return guard.permitsAddress('agent.example', 443, address);
}

/**
 * Refused ranges of addresses, each with its first and last address, and the adjacent addresses that are not refused.
 */
const IPV4_RANGES: readonly (readonly [range: string, first: string, last: string, neighbours: readonly string[]])[] = [
  ['this network', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['private, class A', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['loopback', '127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['link-local', '169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['private, class B', '172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['IETF assignments', '192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['documentation 1', '192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['6to4 relays', '192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['private, class C', '192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['benchmarks', '198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['documentation 2', '198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['documentation 3', '203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['multicast', '224.0.0.0', '239.255.255.255', ['223.255.255.255']],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255', []],
];

/** Addresses of IPv4 ranges for special services that are nevertheless publicly reachable (anycast). */
const ANYCAST = ['192.31.196.1', '192.52.193.1', '192.175.48.1'];

const REFUSED_IPV6 = [
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::1%lo',
  '::2:0:0:1',
  '::ffff:0:8.8.8.8', // IPv4-translated (RFC 2765)
  '64:ff9b:1::8.8.8.8', // NAT64 within one network (RFC 8215)
  '64:ff9b:0:1::8.8.8.8',
  '64:ff9a::8.8.8.8',
  '100::1', // discard
  '100:0:0:1::1',
  '200::1',
  '400::1',
  '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001::', // Teredo
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:0:0808:0808::1',
  '2001:1::1',
  '2001:2::1', // benchmarks
  '2001:3::1', // AMT
  '2001:4:112::1', // AS112
  '2001:10::1', // ORCHID
  '2001:20::1',
  '2001:30::1', // drones
  '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8::', // documentation
  '2001:db8::1%eth0',
  '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2620:4f:8000::1', // AS112
  '3fff::1', // documentation
  '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  '4000::1',
  '5f00::1', // segment routing
  '8000::1',
  'fbff::1',
  'fc00::1', // unique local
  'fd00:ec2::254',
  'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe00::1',
  'fe80::1', // link-local
  'fe80::1%eth0',
  'fe80::1%25eth0',
  'fe80::1%wlan-0.7',
  'fe80::5efe:8.8.8.8', // ISATAP
  'febf::1',
  'fec0::1', // site-local
  'feff::1',
  'ff00::1', // multicast
  'ff02::1%3',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

const PERMITTED_IPV6 = [
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:4860:4860::8888%eth0',
  '2001:4860:4860::8888%wlan-0.7',
  '2001:4860:4860:0:0:0:0:8888',
  '2001:4860:4860::0.0.136.136',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '2600::',
  '2606:2800:220:1:248:1893:25c8:1946',
  '2606:4700::5efe:a00:1',
  '2A00:1450:4001:81B::200E',
  '3ffe::1',
  '3fff:1000::1',
];

/** Texts that no resolver returns as an address, and that programs parse differently. */
const NO_ADDRESSES = [
  '',
  ' ',
  '1',
  '8',
  '127.1',
  '8.8',
  '8.8.8',
  '8.8.8.8.8',
  '8.8.8.8.',
  '.8.8.8.8',
  ' 8.8.8.8',
  '8.8.8.8 ',
  '8.8.8.8\n',
  '8.8.8.8/32',
  '8.8.8.8:80',
  '8.8.8.8%eth0',
  '08.8.8.8',
  '010.8.8.8',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '0x08080808',
  '134744072',
  '2130706433',
  '017700000001',
  '256.8.8.8',
  '-8.8.8.8',
  '８.8.8.8',
  '[2606:4700::1]',
  '2606:4700::1/128',
  '2606:4700::1%',
  '2606:4700',
  '2606:4700:1',
  '2606::4700::1',
  ':::',
  '1:2:3:4:5:6:7:8:9',
  '26060:4700::1',
  '2606:4700::g',
  '::ffff:8.8.8',
  '::ffff:8.8.8.256',
  '::ffff:010.8.8.8',
  '::ffff:0x8.8.8.8',
  '::ffff:134744072',
  'not-an-address',
  'localhost',
  'undefined',
];

describe('which addresses the guard lets through', () => {
  it.each(IPV4_RANGES)('refuses %s from %s to %s, and not its neighbours', (_range, first, last, neighbours) => {
    expect([first, last, middleOf(first, last)].filter((it) => permits(it))).toEqual([]);
    expect(neighbours.filter((it) => !permits(it))).toEqual([]);
  });

  it('lets anycast addresses through that are reached from anywhere', () => {
    expect(ANYCAST.filter((it) => !permits(it))).toEqual([]);
  });

  it('refuses IPv6 addresses outside of what is given out for the internet', () => {
    expect(REFUSED_IPV6.filter((it) => permits(it))).toEqual([]);
  });

  it('lets IPv6 addresses of the internet through', () => {
    expect(PERMITTED_IPV6.filter((it) => !permits(it))).toEqual([]);
  });

  it('refuses what is no address as it is written', () => {
    expect(NO_ADDRESSES.filter((it) => permits(it) || permits(it, local))).toEqual([]);
  });

  it('judges the IPv6 addresses that carry an IPv4 address as that, in every spelling', () => {
    const edges = [...IPV4_RANGES.flatMap(([, first, last, neighbours]) => [first, last, ...neighbours]), ...ANYCAST];
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...edges), fc.ipV4()), (address) => {
        const expected = permits(address);
        const wrong = carriersOf(address).filter(
          (it) => permits(it) !== expected || permits(it, local) !== permits(address, local),
        );
        expect(wrong).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('lets nothing but loopback through in addition where the service is on loopback', () => {
    const more = [...IPV4_RANGES.flatMap(([, first, last]) => [first, last]), ...REFUSED_IPV6].filter((it) =>
      permits(it, local),
    );
    expect(more.filter((it) => !/^(127\.|::1$|0:0:0:0:0:0:0:1$|::1%)/.test(it))).toEqual([]);
    expect(more).toEqual(expect.arrayContaining(['127.0.0.0', '127.255.255.255', '::1']));
  });
});

function middleOf(first: string, last: string): string {
  const [from, to] = [numberOf(first), numberOf(last)];
  const middle = Math.floor((from + to) / 2);
  return [24, 16, 8, 0].map((shift) => Math.floor(middle / 2 ** shift) % 256).join('.');
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/**
 * Returns the IPv6 addresses that embed an IPv4 address: IPv4-mapped, NAT64, 6to4 and IPv4-compatible. `::` and `::1`
 * are excluded from the last kind, since they have other meanings.
 */
function carriersOf(address: string): string[] {
  const value = numberOf(address);
  const [high, low] = [Math.floor(value / 65_536).toString(16), (value % 65_536).toString(16)];
  const full = [high.padStart(4, '0'), low.padStart(4, '0')].join(':');
  return [
    `::ffff:${address}`,
    `::FFFF:${address}`,
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `0000:0000:0000:0000:0000:ffff:${full}`,
    `::ffff:${address}%eth0`,
    `64:ff9b::${address}`,
    `64:ff9b::${high}:${low}`,
    `0064:ff9b:0000:0000:0000:0000:${full}`,
    `2002:${high}:${low}::`,
    `2002:${high}:${low}::1`,
    `2002:${high}:${low}:ffff:ffff:ffff:ffff:ffff`,
    ...(value > 1 ? [`::${address}`, `::${high}:${low}`, `0:0:0:0:0:0:${high}:${low}`] : []),
  ];
}
