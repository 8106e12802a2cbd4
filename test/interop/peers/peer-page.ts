import { tableOf } from '../page.js';
import { MISSING_PEERS } from './missing-peers.js';
import {
  type Peer,
  PEER_OPERATIONS,
  type PeerDirection,
  type PeerOperation,
  type PeerOutcomes,
  type PeerProtocol,
  type PeerRow,
  pinnedVersion,
  rowKey,
  rowsOf,
} from './peer-cells.js';

const TITLES: Readonly<Record<PeerProtocol, Readonly<Record<PeerDirection, string>>>> = {
  a2a: { called: 'A2A: Parley calls the peer', calls: 'A2A: the peer calls Parley' },
  oauth: {
    called: 'OAuth client credentials: Parley calls the peer',
    calls: 'OAuth client credentials: the peer calls Parley',
  },
  mcp: { called: 'MCP: Parley calls the tools of the peer', calls: 'MCP: the peer calls the tools of Parley' },
};

/** Returns the tables of peers, and the reason of each cell that is not ✓. */
export function peerTables(peers: readonly Peer[], outcomes: PeerOutcomes): string {
  const reasons: string[] = [];
  const tables = (['a2a', 'oauth', 'mcp'] as const).flatMap((protocol) =>
    (['called', 'calls'] as const).map((direction) => {
      const rows = peers.filter((peer) => peer.protocol === protocol).flatMap(rowsOf);
      const cells = rows.filter((row) => row.direction === direction).map((row) => cellsOf(row, outcomes, reasons));
      const header = ['', 'peer', 'version', 'binding', ...PEER_OPERATIONS[protocol][direction]];
      return cells.length === 0 ? '' : `### ${TITLES[protocol][direction]}\n\n${tableOf(header, cells)}`;
    }),
  );
  const notes = reasons.map((reason, index) => `${index + 1}. ${reason}`).join('\n');
  const missing = MISSING_PEERS.map(({ name, version, reason }) => [name, version, reason]);
  const table = `### Packages that are no peers\n\n${tableOf(['', 'version tried', 'reason'], missing)}`;
  const parts = [...tables, notes, table];
  return parts.filter((part) => part !== '').join('\n\n');
}

function cellsOf(row: PeerRow, outcomes: PeerOutcomes, reasons: string[]): string[] {
  const { peer, binding, direction } = row;
  const operations: readonly PeerOperation[] = PEER_OPERATIONS[peer.protocol][direction];
  const texts = operations.map((operation) => outcomes[rowKey(row)]?.[operation] ?? '');
  const versions = peer.packages.map((name) => pinnedVersion(peer, name)).join(', ');
  return [peer.language, peer.title, versions, binding, ...texts.map((text) => numbered(text, reasons))];
}

/** Returns the sign of a cell, and the number of its reason among all reasons. */
function numbered(text: string, reasons: string[]): string {
  const [, sign, reason] = /^(✓|–) (.+)$/s.exec(text) ?? [];
  if (sign === undefined || reason === undefined) return text;
  const known = reasons.indexOf(reason);
  return `${sign} ${known < 0 ? reasons.push(reason) : known + 1}`;
}
