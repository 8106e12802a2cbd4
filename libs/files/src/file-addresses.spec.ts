import { randomBytes } from 'node:crypto';
import { FileAddresses, type FileProof } from './file-addresses.js';

const file = { id: 'f1' };
const INSTANT_MS = 60_000;

async function addressesOf(value: Buffer): Promise<FileAddresses> {
  const pool = { query: async () => ({ rows: [{ value }] }) };
  return FileAddresses.openAddresses({ pool } as never);
}

function proofIn(address: string): FileProof {
  const { searchParams } = new URL(address);
  return { expires: Number(searchParams.get('expires')), signature: searchParams.get('signature') ?? '' };
}

describe('FileAddresses', () => {
  it('opens the file of an address, at every replica with the secret, until its time', async () => {
    const secret = randomBytes(32);
    const [one, other] = [await addressesOf(secret), await addressesOf(secret)];
    const address = one.signAddress(file, 'https://parley.example.com', new Date(Date.now() + INSTANT_MS));
    expect(address).toMatch(/^https:\/\/parley\.example\.com\/files\/f1\?expires=\d{10}&signature=[\w-]{43}$/);
    expect(other.isValid('f1', proofIn(address))).toBe(true);
    const over = one.signAddress(file, 'https://parley.example.com', new Date(Date.now() - INSTANT_MS));
    expect(one.isValid('f1', proofIn(over))).toBe(false);
  });

  it('opens nothing else', async () => {
    const addresses = await addressesOf(randomBytes(32));
    const until = new Date(Date.now() + INSTANT_MS);
    const proof = proofIn(addresses.signAddress(file, 'https://parley.example.com', until));
    expect(addresses.isValid('f2', proof)).toBe(false);
    expect(addresses.isValid('f1', { ...proof, expires: proof.expires + 1 })).toBe(false);
    expect(addresses.isValid('f1', { ...proof, signature: '' })).toBe(false);
    expect((await addressesOf(randomBytes(32))).isValid('f1', proof)).toBe(false);
  });
});
