import type { HeldParts } from '#libs/agents';
import { type Part, textPart, withKeptFile } from '#libs/protocol';
import { SentParts } from './sent-parts.js';

const BYTES: Part = { raw: 'AAAA' };
const STORED = withKeptFile(BYTES, 'https://files.example.com/1', { id: '1', size: 3, sha256: '0' });

/** Creates SentParts of one stored Part. @returns it, and a log of the holds and releases of its bytes */
function startParts() {
  const log: string[] = [];
  const holdParts = async (parts: readonly Part[]): Promise<HeldParts> => {
    log.push(`held ${parts.length}`);
    return { parts: [BYTES], [Symbol.dispose]: () => void log.push('released') };
  };
  return { parts: new SentParts([STORED], holdParts), log };
}

it('reads the bytes once, and again after a release', async () => {
  const { parts, log } = startParts();
  expect(await parts.readParts()).toBe(await parts.readParts());
  parts.release();
  expect(await parts.readParts()).toEqual([BYTES]);
  expect(log).toEqual(['held 1', 'released', 'held 1']);
});

it('takes the bytes out of earlier requests, and releases them once', async () => {
  const { parts, log } = startParts();
  const request = await parts.readParts();
  parts.release();
  parts[Symbol.dispose]();
  expect([request, log]).toEqual([[], ['held 1', 'released']]);
});

it('needs no memory without stored files', async () => {
  const message = [textPart('hello')];
  const parts = new SentParts(message, () => Promise.reject(new Error('memory was asked for')));
  expect(await parts.readParts()).toEqual(message);
  parts.release();
  expect(message).toHaveLength(1);
});
