import { type ServerAnswer, type SessionProgress, SessionWatch, type WatchedSession } from './watched-client.js';

const GONE: ServerAnswer = { kind: 'answered', working: new Set() };
const AT_WORK: ServerAnswer = { kind: 'answered', working: new Set(['a']) };
const UNREACHABLE: ServerAnswer = { kind: 'unreachable' };
const UNKNOWN: ServerAnswer = { kind: 'unknown' };

class FakeSession implements WatchedSession {
  readonly tag = 'a';
  state: SessionProgress | undefined = { bytesRead: 10, bytesSent: 100, bytesQueued: 0 };
  cuts = 0;
  /** Progress that `progress` returns after the next call of `talk`. A test sets it before that call. */
  said: SessionProgress | undefined;

  progress(): SessionProgress | undefined {
    return this.state && { ...this.state };
  }

  talk(): void {
    this.state = this.said;
  }

  cut(): void {
    this.cuts += 1;
  }
}

let time: number;
let session: FakeSession;
let watch: SessionWatch;
let answer: ServerAnswer;
let asked: (readonly string[])[];
let meanwhile: () => void;

beforeEach(() => {
  time = 1_000;
  session = new FakeSession();
  answer = GONE;
  asked = [];
  meanwhile = () => undefined;
  watch = new SessionWatch(
    (tags) => {
      asked.push(tags);
      meanwhile();
      return Promise.resolve(answer);
    },
    () => time,
  );
  watch.add(session);
});

afterEach(() => watch.delete(session));

/** Advances the clock by half a second at a time. Before each advance, calls `each` and checks the sessions. */
async function pass(seconds: number, each: () => void = () => undefined): Promise<void> {
  for (let look = 0; look <= seconds * 2; look += 1) {
    each();
    await watch.checkSilent();
    time += 500;
  }
}

it.each([
  ['no such session, or an idle one', GONE],
  ['no server', UNREACHABLE],
])('a session whose statement nobody executes is cut within ten seconds: %s', async (_name, said) => {
  answer = said;
  await pass(4);
  expect(session.cuts).toBe(0);
  await pass(5);
  expect(session.cuts).toBe(1);
  expect(asked.every((tags) => tags.length === 1 && tags[0] === 'a')).toBe(true);
});

it.each([
  ['works for it', AT_WORK],
  ['gives no answer', UNKNOWN],
])('no session is cut while the server %s, and questions get rarer', async (_name, said) => {
  answer = said;
  await pass(600);
  expect(session.cuts).toBe(0);
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.length).toBeLessThan(80);
});

it('two losses count only without another answer between them', async () => {
  const answers = [GONE, AT_WORK, GONE, UNKNOWN, UNREACHABLE, AT_WORK];
  await pass(60, () => (answer = answers[asked.length % answers.length]!));
  expect(asked.length).toBeGreaterThan(6);
  expect(session.cuts).toBe(0);
});

it.each(['bytesRead', 'bytesSent', 'bytesQueued'] as const)(
  'a session whose %s change is not asked about',
  async (part) => {
    await pass(60, () => (session.state![part] += 1));
    expect(asked).toEqual([]);
  },
);

it('a session that waits for no answer is not asked about', async () => {
  session.state = undefined;
  await pass(60);
  expect(asked).toEqual([]);
});

it('a session that is lost and waits for nothing is found as soon as another one is', async () => {
  const idle = new FakeSession();
  idle.state = undefined;
  idle.said = { bytesRead: 5, bytesSent: 6, bytesQueued: 0 };
  watch.add(idle);
  await pass(14);
  expect([session.cuts, idle.cuts > 0]).toEqual([1, true]);
  watch.delete(idle);
});

it('an answer that comes while the server is asked saves the session', async () => {
  meanwhile = () => (session.state!.bytesRead += 1);
  await pass(60);
  expect(asked.length).toBeGreaterThan(5);
  expect(session.cuts).toBe(0);
});

it('a large statement has the time that a slow network takes to carry it', async () => {
  session.state!.bytesSent = 8 * 1024 ** 2;
  await pass(30);
  expect(asked).toEqual([]);
  await pass(15);
  expect(session.cuts).toBe(1);
});

it('a session that has ended is neither asked about nor cut', async () => {
  await pass(3);
  watch.delete(session);
  await pass(30);
  expect({ asked, cuts: session.cuts }).toEqual({ asked: [], cuts: 0 });
});
