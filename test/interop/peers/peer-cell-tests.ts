import { it } from 'node:test';
import {
  FAILED,
  type Peer,
  type PeerGap,
  type PeerOperation,
  type PeerOutcomes,
  type PeerRow,
  rowKey,
  rowsOf,
} from './peer-cells.js';

const filled: PeerOutcomes = {};

/**
 * Declares the test of a cell. Its text holds if the test passes, whether the text is good or not.
 * @param at returns what the test needs, or the sentence why the peer cannot run here; the cell then keeps its text
 */
export function peerCell<At>(
  row: PeerRow,
  operation: PeerOperation,
  { says, test }: PeerGap<At>,
  at: () => At | string,
): void {
  it(`${rowKey(row)}, ${operation}: "${says}"`, async (context) => {
    const given = at();
    if (typeof given === 'string') return context.skip(given);
    fill(row, operation, FAILED);
    await test?.(given);
    fill(row, operation, says);
  });
}

/** Returns the cells whose tests ran, over those of earlier runs. */
export function withFilledCells(earlier: PeerOutcomes, peers: readonly Peer[]): PeerOutcomes {
  const keys = peers.flatMap(rowsOf).map(rowKey);
  return Object.fromEntries(keys.map((key) => [key, { ...earlier[key], ...filled[key] }]));
}

function fill(row: PeerRow, operation: PeerOperation, text: string): void {
  (filled[rowKey(row)] ??= {})[operation] = text;
}
