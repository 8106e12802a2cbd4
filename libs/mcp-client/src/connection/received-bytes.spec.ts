import { MOST_RECEIVED, ReceivedBytes } from './bounded-body.js';

const MIB = 1024 * 1024;
const REFUSED = 'too many long answers of MCP servers are being read at the same time';

describe('bytes of answers that are being read', () => {
  test('are refused to a tenant beyond half of all, to the others not', () => {
    const received = new ReceivedBytes();
    const long = Array.from({ length: 4 }, () => received.openAccount('greedy'));
    for (const it of long) it.holdBytes(8 * MIB);
    expect(() => received.openAccount('greedy').holdBytes(8 * MIB)).toThrow(REFUSED);
    received.openAccount('other').holdBytes(8 * MIB);
    received.openAccount('greedy').holdBytes(60 * 1024);
  });

  test('are refused to all beyond the sum, and taken again when an answer has been passed on', () => {
    const received = new ReceivedBytes();
    const long = ['a', 'b', 'c', 'd'].map((tenant) => received.openAccount(tenant));
    for (const it of long) it.holdBytes(MOST_RECEIVED / 4);
    expect(() => received.openAccount('e').holdBytes(MIB)).toThrow(REFUSED);
    long[0]!.releaseBytes();
    long[0]!.releaseBytes();
    received.openAccount('e').holdBytes(MIB);
    expect(() => received.openAccount('f').holdBytes(MOST_RECEIVED / 4)).toThrow(REFUSED);
  });
});
