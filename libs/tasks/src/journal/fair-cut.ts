/** Source of waiting events that are charged to the account of one caller. */
export interface ChargedSource {
  /** Account of the caller; all accounts get equal parts of each batch. */
  readonly account: string;
  /** Waiting events, oldest first. `mark` is an event's number in the order of recording, over all Tasks, from 1. */
  readonly waitingEvents: readonly { readonly mark: number; readonly bytes: number }[];
}

/** Boundary between a batch and later batches: the last event of each account that the batch contains. */
export interface FairCut {
  /** Highest `mark` of each account's events in the batch; 0 if the batch has no event of the account. */
  readonly upTo: ReadonlyMap<string, number>;
  /** Bytes of events that are left for later batches. */
  readonly rest: number;
}

interface FairAccount {
  waiting: number;
  share: number;
  taken: number;
  upTo: number;
  isFull: boolean;
}

/**
 * Cuts a batch of at most `limit` bytes out of the waiting events, in equal shares of the accounts.
 * - An account that needs less than its share leaves the rest to the other accounts.
 * - The events of an account are taken in order, without a gap.
 * - The oldest event of all is always taken, whatever its size, so no event waits forever. A batch may exceed the limit
 *   by that event.
 */
export function fairCut(sources: Iterable<ChargedSource>, limit: number): FairCut {
  const accounts = new Map<string, FairAccount>();
  const all = [...sources].filter(({ waitingEvents }) => waitingEvents.length > 0);
  let [first, last, sum] = [Number.POSITIVE_INFINITY, 0, 0];
  for (const { account, waitingEvents } of all) {
    const own = accountIn(accounts, account);
    for (const { bytes } of waitingEvents) own.waiting += bytes;
    first = Math.min(first, waitingEvents[0]!.mark);
    last = Math.max(last, waitingEvents.at(-1)!.mark);
  }
  assignShares(accounts, limit);
  for (const { waiting } of accounts.values()) sum += waiting;
  const taken = all.length === 0 ? 0 : takeInOrder(all, accounts, first, last);
  return { upTo: marksOf(accounts), rest: sum - taken };
}

function accountIn(accounts: Map<string, FairAccount>, name: string): FairAccount {
  let account = accounts.get(name);
  if (!account) accounts.set(name, (account = { waiting: 0, share: 0, taken: 0, upTo: 0, isFull: false }));
  return account;
}

/**
 * Divides `limit` bytes among the callers' accounts: each gets what it needs, or an equal part of the bytes that
 * accounts with smaller needs leave.
 */
function assignShares(accounts: ReadonlyMap<string, FairAccount>, limit: number): void {
  const byNeed = [...accounts.values()].sort((a, b) => a.waiting - b.waiting);
  let room = limit;
  byNeed.forEach((account, index) => {
    account.share = Math.min(account.waiting, room / (byNeed.length - index));
    room -= account.share;
  });
}

/**
 * Takes events from all sources in the order of their numbers (`mark`), from `first` to `last`. Takes no more bytes of
 * an account than its share, except that the event `first` is always taken. The events are not sorted.
 * @returns the bytes taken
 */
function takeInOrder(
  sources: readonly ChargedSource[],
  accounts: ReadonlyMap<string, FairAccount>,
  first: number,
  last: number,
): number {
  const [owners, bytesOf] = [
    Array.from<FairAccount | undefined>({ length: last - first + 1 }),
    new Float64Array(last - first + 1),
  ];
  for (const { account, waitingEvents } of sources) {
    const owner = accounts.get(account);
    for (const { mark, bytes } of waitingEvents) {
      owners[mark - first] = owner;
      bytesOf[mark - first] = bytes;
    }
  }
  let taken = 0;
  for (let index = 0; index < owners.length; index += 1) {
    const [owner, bytes] = [owners[index], bytesOf[index]!];
    if (!owner || owner.isFull) continue;
    owner.isFull = index > 0 && owner.taken + bytes > owner.share;
    if (owner.isFull) continue;
    owner.taken += bytes;
    owner.upTo = first + index;
    taken += bytes;
  }
  return taken;
}

function marksOf(accounts: ReadonlyMap<string, FairAccount>): Map<string, number> {
  return new Map([...accounts].map(([name, { upTo }]) => [name, upTo]));
}
