import { MOST_RECEIVED, ReceivedBytes } from './received-bytes.js';

const MIB = 1024 * 1024;
const REFUSED = 'too many long answers of MCP servers are being read at the same time';

describe('bytes of answers that are being read', () => {
  test('are refused to a tenant beyond half of all, to the others not', () => {
    const received = new ReceivedBytes();
    const long = Array.from({ length: 4 }, () => received.answer('greedy'));
    for (const it of long) it.take(8 * MIB);
    expect(() => received.answer('greedy').take(8 * MIB)).toThrow(REFUSED);
    received.answer('other').take(8 * MIB);
    received.answer('greedy').take(60 * 1024);
  });

  test('are refused to all beyond the sum, and taken again when an answer has been passed on', () => {
    const received = new ReceivedBytes();
    const long = ['a', 'b', 'c', 'd'].map((tenant) => received.answer(tenant));
    for (const it of long) it.take(MOST_RECEIVED / 4);
    expect(() => received.answer('e').take(MIB)).toThrow(REFUSED);
    long[0]!.release();
    long[0]!.release();
    received.answer('e').take(MIB);
    expect(() => received.answer('f').take(MOST_RECEIVED / 4)).toThrow(REFUSED);
  });
});
