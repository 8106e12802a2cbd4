import type { SeededRandom } from '../../support/seeded-random.js';

const BAD_BYTES = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0x00]),
  Buffer.from([0x80]),
  Buffer.from('"'),
  Buffer.from('\\'),
  Buffer.from('\r\n\r\n'),
];

/** Returns the bytes with some changed, removed or added. */
export function mutatedBytes(bytes: Buffer, random: SeededRandom): Buffer {
  const place = random.between(0, bytes.length);
  const [head, tail] = [bytes.subarray(0, place), bytes.subarray(place)];
  switch (random.between(0, 5)) {
    case 0:
      return head;
    case 1:
      return flipped(bytes, random);
    case 2:
      return Buffer.concat([head, random.pick(BAD_BYTES), tail]);
    case 3:
      return Buffer.concat([head, bytes.subarray(0, random.between(0, bytes.length)), tail]);
    case 4:
      return Buffer.concat([head, tail.subarray(random.between(0, tail.length))]);
    default:
      return noise(random);
  }
}

function flipped(bytes: Buffer, random: SeededRandom): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = random.between(1, 4); times > 0 && copy.length > 0; times--) {
    const place = random.between(0, copy.length - 1);
    copy[place] = (copy[place] as number) ^ (1 << random.between(0, 7));
  }
  return copy;
}

export function noise(random: SeededRandom): Buffer {
  return Buffer.from(Array.from({ length: random.between(0, 300) }, () => random.between(0, 255)));
}
