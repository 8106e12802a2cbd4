import type { JsonValue } from '#libs/protocol';
import { SeededRandom } from '../support/seeded-random.js';
import type { Corpus } from './corpus.js';
import type { Delivery, FuzzCase, Seed } from './fuzz-case.js';
import { grpcBytes, grpcHeaders } from './mutation/grpc-mutation.js';
import { mutatedBytes, noise } from './mutation/byte-mutation.js';
import { brokenLine, type Head, oddHead } from './mutation/head-mutation.js';
import { mutatedJson } from './mutation/json-mutation.js';
import { textOf } from './mutation/odd-values.js';

export interface CaseSource {
  /** Seeds by endpoint, so that each endpoint gets the same number of cases. */
  seeds: readonly (readonly Seed[])[];
  corpus: Corpus;
  seed: number;
  host: string;
  /** Headers of a known caller. */
  credentials: Record<string, string>;
}

/** Creates the case of a number. The same seed and number create the same case, whatever was sent before. */
export function generateCase(source: CaseSource, index: number): FuzzCase {
  const random = new SeededRandom((source.seed + Math.imul(index, 0x9e3779b1)) >>> 0);
  const group = source.seeds[index % source.seeds.length] as readonly Seed[];
  const seed = source.corpus.filled(random.pick(group) as unknown as JsonValue, random) as unknown as Seed;
  const made = { index, endpoint: seed.endpoint, transport: seed.transport };
  const body = seed.body === undefined ? undefined : mutatedBody(seed.body, random);
  const credentials = random.between(0, 19) === 0 ? {} : source.credentials;
  if (seed.transport === 'grpc') {
    const headers = grpcHeaders({ ...seed.headers, ...credentials }, seed.method, random);
    const { bytes, owed } = grpcBytes(seed.method, body, random);
    return { ...made, bytes, headers, owed, delivery: { kind: 'whole' } };
  }
  const given = { host: source.host, ...seed.headers, ...credentials, ...(seed.transport === 'websocket' && UPGRADE) };
  const head = { method: seed.method, target: seed.path, headers: Object.entries(given) };
  return { ...made, ...httpCase(head, body, seed.transport, random) };
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Returns a mutated body. A tenth stays valid, since code behind a rejection would otherwise not be tested. */
function mutatedBody(body: JsonValue, random: SeededRandom): JsonValue {
  let mutated = body;
  for (let times = random.pick([0, 1, 1, 1, 2, 2, 3, 5, 1, 1]); times > 0; times--)
    mutated = mutatedJson(mutated, random);
  return mutated;
}

function httpCase(
  plain: Head,
  json: JsonValue | undefined,
  transport: Seed['transport'],
  random: SeededRandom,
): Pick<FuzzCase, 'bytes' | 'delivery' | 'owed'> {
  const head = random.between(0, 2) === 0 ? oddHead(plain, random) : plain;
  let body: Buffer = json === undefined ? Buffer.alloc(0) : Buffer.from(textOf(json));
  if (random.between(0, 5) === 0) body = mutatedBytes(body, random);
  if (random.between(0, 399) === 0) body = Buffer.alloc(600_000, ' ');
  const frames = transport === 'websocket' ? socketFrames(random) : Buffer.alloc(0);
  const framed = framing(head, body, random);
  const whole = Buffer.concat([framed.bytes, frames]);
  const broken = random.between(0, 24) === 0;
  const bytes = broken ? mutatedBytes(whole, random) : whole;
  const delivery = deliveryOf(bytes.length, random);
  return { bytes, delivery, owed: framed.owed && !broken && delivery.kind !== 'cut' };
}

/** Returns the bytes of a request with a body: with its length, in chunks, or in contradiction to the head. */
function framing(head: Head, body: Buffer, random: SeededRandom): { bytes: Buffer; owed: boolean } {
  const choice = random.between(0, 19);
  if (choice === 0) return { bytes: message(head, [brokenLine(random)], body), owed: false };
  if (choice === 1) return { bytes: message(head, [`content-length: ${body.length + 10}`], body), owed: false };
  if (choice === 2 && body.length > 0) {
    const half = Math.floor(body.length / 2);
    const chunks = [body.subarray(0, half), body.subarray(half)].map(chunk);
    return { bytes: message(head, ['transfer-encoding: chunked'], Buffer.concat([...chunks, END])), owed: true };
  }
  if (choice === 3) return { bytes: message(head, ['transfer-encoding: chunked'], chunk(body)), owed: false };
  return { bytes: message(head, [`content-length: ${body.length}`], body), owed: true };
}

const END = Buffer.from('0\r\n\r\n');

function chunk(bytes: Buffer): Buffer {
  return bytes.length === 0
    ? bytes
    : Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function message({ method, target, headers }: Head, lines: string[], body: Buffer): Buffer {
  const all = [...headers.map(([name, value]) => `${name}: ${value}`), ...lines];
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`), body]);
}

function deliveryOf(length: number, random: SeededRandom): Delivery {
  const choice = random.between(0, 29);
  const at = random.between(0, Math.max(0, length - 1));
  if (choice === 0) return { kind: 'cut', at, half: true };
  if (choice === 1) return { kind: 'cut', at, half: false };
  return choice < 5 ? { kind: 'pieces', at } : { kind: 'whole' };
}

/**
 * Returns frames of a WebSocket client: valid ones, ones without a mask, of unknown types, too long ones, or random
 * bytes.
 */
function socketFrames(random: SeededRandom): Buffer {
  const frames = Array.from({ length: random.between(0, 4) }, () => {
    const payload = noise(random).subarray(0, random.between(0, 125));
    const first = random.pick([0x81, 0x82, 0x88, 0x89, 0x8a, 0x80, 0x01, 0x83, 0x8f, 0xc1, 0xf1]);
    const masked = random.between(0, 3) > 0;
    const mask = masked ? Buffer.from([0, 0, 0, 0]) : Buffer.alloc(0);
    const length = random.pick([payload.length, payload.length, 126, 127]);
    return Buffer.concat([Buffer.from([first, (masked ? 0x80 : 0) | length]), mask, payload]);
  });
  return Buffer.concat(frames);
}
