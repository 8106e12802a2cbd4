import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Operations of a table, by protocol and by who calls: Parley calls the peer, or the peer calls Parley. */
export const PEER_OPERATIONS = {
  a2a: {
    called: ['send', 'stream', 'ask', 'follow-up', 'cancel', 'resubscribe', 'push', 'parts', 'errors', 'key'],
    calls: ['send', 'stream', 'ask', 'follow-up', 'cancel', 'resubscribe', 'push', 'parts', 'errors', 'key'],
  },
  oauth: {
    called: ['token', 'renewal', 'refusal'],
    calls: ['token', 'stream', 'refusal'],
  },
  mcp: {
    called: ['list', 'call', 'progress', 'structured', 'file', 'errors', 'cancel', 'key'],
    calls: ['list', 'call', 'progress', 'ask', 'decline', 'errors', 'cancel', 'key'],
  },
} as const;

export type PeerProtocol = keyof typeof PEER_OPERATIONS;
export type PeerDirection = 'called' | 'calls';
/** Binding of A2A or MCP, and whether it is spoken over TLS. */
export type PeerBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC' | 'Streamable HTTP' | 'JSONRPC, TLS';
export type PeerOperation<P extends PeerProtocol = PeerProtocol> = (typeof PEER_OPERATIONS)[P][PeerDirection][number];

/** Package of another language that calls Parley, or that Parley calls, in its folder here. */
export interface Peer {
  /** Stable id in the outcomes, unique among all peers. */
  id: string;
  language: PeerLanguage;
  title: string;
  protocol: PeerProtocol;
  /** Names of the packages, as the lock file has them. */
  packages: readonly string[];
  /** Folder of the lock file below that of the language, if each peer has its own. */
  lock?: string;
  called: readonly PeerBinding[];
  calls: readonly PeerBinding[];
}

export type PeerLanguage = 'Go' | 'Java' | 'Python' | 'Rust';

/** Option that limits a run to some peers, by their ids: `--peer=go-adk,python-strands`. */
const PEER_OPTION = '--peer=';

/** True if the command names this peer, or none. */
export function isNamedPeer({ id }: Peer): boolean {
  const option = process.argv.find((word) => word.startsWith(PEER_OPTION));
  return option === undefined || option.slice(PEER_OPTION.length).split(',').includes(id);
}

/** Row of a table: a peer, a binding and a direction. */
export interface PeerRow {
  peer: Peer;
  binding: PeerBinding;
  direction: PeerDirection;
}

/** Text of a cell: that the operation works, or the reason why not and what Parley does then. */
export type PeerFinding = '✓' | `✓ ${string}` | `– ${string}`;

/** Texts of the cells, by row and operation. */
export type PeerOutcomes = Record<string, Partial<Record<PeerOperation, string>>>;

/** Text of a cell whose test failed. */
export const FAILED = '✗';

/** File with the pins of a language, and the pattern of a pin. */
const PINS: Readonly<Record<PeerLanguage, readonly [string, (name: string) => RegExp]>> = {
  Go: ['go/go.mod', (name) => new RegExp(`\\s${RegExp.escape(name)} v(\\S+)`)],
  Java: ['java/pom.xml', (name) => new RegExp(`<artifactId>${RegExp.escape(name)}</artifactId>\\s*<version>([^<]+)`)],
  Python: ['python/requirements.txt', (name) => new RegExp(`^${RegExp.escape(name)}==(\\S+)`, 'm')],
  Rust: ['rust/Cargo.lock', (name) => new RegExp(`name = "${RegExp.escape(name)}"\\nversion = "([^"]+)"`)],
};

/** Returns the pinned version of a package of a peer. @throws Error if the lock file has none */
export function pinnedVersion({ language, lock = '' }: Pick<Peer, 'language' | 'lock'>, name: string): string {
  const [path, pattern] = PINS[language];
  const file = join(dirname(path), lock, basename(path));
  const version = pattern(name).exec(readFileSync(join(import.meta.dirname, file), 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${file} has no version of ${name}`);
  return version;
}

export function isOverTls(binding: PeerBinding): boolean {
  return binding.endsWith(', TLS');
}

/** Returns the name of a binding in cards: that without TLS. */
export function protocolBindingOf(binding: PeerBinding): string {
  return binding.replace(', TLS', '');
}

export function rowKey({ peer, binding, direction }: PeerRow): string {
  return `${peer.id} ${binding} ${direction}`;
}

/** Returns the rows of a peer, in the order of the tables. */
export function rowsOf(peer: Peer): PeerRow[] {
  const rows = (direction: PeerDirection): PeerRow[] =>
    peer[direction].map((binding) => ({ peer, binding, direction }));
  return [...rows('called'), ...rows('calls')];
}

/** Text of a cell that is not ✓, and the test that shows it. Without a test, the peer has nothing to call. */
export interface PeerGap<At> {
  says: PeerFinding;
  test?(at: At): Promise<void>;
}

/** Returns the cells without a text, and those that failed, as "row, operation". */
export function openCells(outcomes: PeerOutcomes, peers: readonly Peer[]): string[] {
  return peers
    .flatMap(rowsOf)
    .flatMap((row) =>
      PEER_OPERATIONS[row.peer.protocol][row.direction]
        .filter((operation) => [undefined, FAILED].includes(outcomes[rowKey(row)]?.[operation]))
        .map((operation) => `${rowKey(row)}, ${operation}`),
    );
}
