import { jest } from '@jest/globals';
import { CommitFeed } from './commit-feed.js';
import { type Commit, CommitLog, type CommitPosition } from './commit-log.js';

const WRITER = 'w';
const FROM_THE_START: CommitPosition = new Map();

let log: HeldLog;
let feed: CommitFeed;
let stop: AbortController;

beforeEach(() => {
  log = new HeldLog();
  feed = new CommitFeed(log, undefined, 3_600_000);
  stop = new AbortController();
});

afterEach(() => stop.abort());

it('misses nothing for two followers that begin at once', async () => {
  const first = feed.followCommits(FROM_THE_START, stop.signal);
  const one = first.next();
  const second = feed.followCommits(FROM_THE_START, stop.signal);
  const other = second.next();
  await log.answerPosition();
  await log.whenReadToEnd();
  // Another process commits, and its signal has not arrived: the second follower's own query for the position comes
  // after the commit.
  log.commit();
  await log.answerPosition();
  await log.whenReadToEnd();
  log.commit();
  feed.announceCommit();
  expect(positionOf(await one)).toBe(1n);
  expect(positionOf(await first.next())).toBe(2n);
  expect(positionOf(await other)).toBe(1n);
  expect(positionOf(await second.next())).toBe(2n);
});

it('begins anew where the position could not be read', async () => {
  const failed = feed.followCommits(FROM_THE_START, stop.signal).next();
  await log.answerPosition(new Error('no connection'));
  await expect(failed).rejects.toThrow('no connection');
  const next = feed.followCommits(FROM_THE_START, stop.signal).next();
  await log.answerPosition();
  await log.whenReadToEnd();
  log.commit();
  feed.announceCommit();
  expect(positionOf(await next)).toBe(1n);
});

it('gives a follower that comes after the last one left what is committed from then on', async () => {
  const left = new AbortController();
  const gone = feed.followCommits(FROM_THE_START, left.signal).next();
  left.abort();
  await log.answerPosition();
  expect((await gone).done).toBe(true);
  log.commit();
  const next = feed.followCommits(FROM_THE_START, stop.signal);
  const first = next.next();
  await log.answerPosition();
  expect(positionOf(await first)).toBe(1n);
  const second = next.next();
  await log.whenReadToEnd();
  log.commit();
  feed.announceCommit();
  expect(positionOf(await second)).toBe(2n);
});

it('holds a few megabytes for a follower that does not take them, or one commit, and lets it read by itself', async () => {
  log.bytes = 100 * 1024 * 1024;
  const commits = feed.followCommits(FROM_THE_START, stop.signal);
  const first = commits.next();
  await log.answerPosition();
  await log.whenReadToEnd();
  await commit();
  expect(positionOf(await first)).toBe(1n);
  await commit();
  log.readFrom.length = 0;
  expect(positionOf(await commits.next())).toBe(2n);
  expect(log.readFrom).toEqual([]);
  await commit();
  await commit();
  log.readFrom.length = 0;
  expect(positionOf(await commits.next())).toBe(3n);
  expect(log.readFrom).toEqual([2n]);
  expect(positionOf(await commits.next())).toBe(4n);
});

it('reads what many have missed from one place once for all of them', async () => {
  for (let commits = 0; commits < 3; commits += 1) log.commit();
  const many = Array.from({ length: 50 }, () => feed.followCommits(FROM_THE_START, stop.signal));
  const first = many.map((commits) => commits.next());
  await log.answerPosition();
  expect((await Promise.all(first)).map(positionOf)).toEqual(many.map(() => 1n));
  const second = await Promise.all(many.map((commits) => commits.next()));
  expect(second.map(positionOf)).toEqual(many.map(() => 2n));
  expect(log.readFrom.filter((position) => position === 0n)).toHaveLength(1);
});

it('misses nothing where the page that it shares was asked for before it began, and was empty', async () => {
  const one = feed.followCommits(FROM_THE_START, stop.signal);
  const first = one.next();
  log.holdReads();
  await log.answerPosition();
  // The database has executed the first follower's read, but the answer has not arrived.
  log.commit();
  const other = feed.followCommits(FROM_THE_START, stop.signal).next();
  await turns();
  log.releaseReads();
  expect(positionOf(await other)).toBe(1n);
  feed.announceCommit();
  expect(positionOf(await first)).toBe(1n);
});

it('takes a turn of its caller for each page and for what has come since', async () => {
  const turn = { awaitTurn: jest.fn(async () => undefined), chargeTime: jest.fn() };
  log.commit();
  const commits = feed.followCommits(FROM_THE_START, stop.signal, turn);
  const first = commits.next();
  await log.answerPosition();
  expect(positionOf(await first)).toBe(1n);
  expect(turn.awaitTurn).toHaveBeenCalledTimes(1);
  expect(turn.chargeTime).toHaveBeenCalledTimes(1);
  const second = commits.next();
  await log.whenReadToEnd();
  const before = turn.awaitTurn.mock.calls.length;
  await commit();
  expect(positionOf(await second)).toBe(2n);
  expect(turn.awaitTurn.mock.calls.length).toBe(before + 1);
});

/** Makes a commit, and waits until the feed has read it. */
async function commit(): Promise<void> {
  log.commit();
  feed.announceCommit();
  await log.whenReadToEnd();
}

function positionOf({ value }: IteratorResult<Commit>): bigint | undefined {
  return (value as Commit | undefined)?.position;
}

/**
 * Commit log of one writer for tests. A test decides when a query for the newest position is answered. The answer has
 * the position at the time when the test answers.
 */
class HeldLog extends CommitLog {
  /** Bytes of each commit. */
  bytes = 0;
  /** Positions from which the log was read. */
  readonly readFrom: bigint[] = [];
  private committed = 0n;
  private readonly asked: { resolve(position: CommitPosition): void; reject(error: Error): void }[] = [];
  private readToEnd = 0;
  private held: PromiseWithResolvers<void> | undefined;

  commit(): void {
    this.committed += 1n;
  }

  /** Answers the oldest open query for the position; does nothing if there is none. */
  async answerPosition(error?: Error): Promise<void> {
    await turns();
    const asked = this.asked.shift();
    if (error) asked?.reject(error);
    else asked?.resolve(new Map([[WRITER, this.committed]]));
    await turns();
  }

  /** Delays the answers to later reads. Each answer has the commits that existed when the read began. */
  holdReads(): void {
    this.held = Promise.withResolvers();
  }

  releaseReads(): void {
    this.held?.resolve();
    this.held = undefined;
  }

  /** Resolves when a reader has reached the end of the log. */
  async whenReadToEnd(): Promise<void> {
    while (this.readToEnd === 0) await turns();
    await turns();
  }

  override async readPosition(): Promise<{ position: CommitPosition; at: Date }> {
    const position = await new Promise<CommitPosition>((resolve, reject) => this.asked.push({ resolve, reject }));
    return { position, at: new Date(0) };
  }

  override async readCommits(after: CommitPosition): Promise<Commit[]> {
    const commits: Commit[] = [];
    const from = after.get(WRITER) ?? 0n;
    this.readFrom.push(from);
    for (let position = from + 1n; position <= this.committed; position += 1n) {
      commits.push({ writer: WRITER, position, committedAt: new Date(0), bytes: this.bytes, events: [] });
    }
    await this.held?.promise;
    if (commits.length === 0) this.readToEnd += 1;
    return commits;
  }

  override async forgetCommits(): Promise<void> {}
}

/**
 * Waits for one cycle of the event loop, in which all code runs that does not wait for a further answer of the test.
 */
function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
