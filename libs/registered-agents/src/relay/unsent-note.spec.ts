import { jest } from '@jest/globals';
import type { StoredTurn } from './relay-tasks.js';
import { UnsentNote } from './unsent-note.js';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

const LATE_MS = 600;

/** Creates an UnsentNote. @returns it, its turn, and the values that it has stored */
function startNote({ mayBeSent = false, isHeld = true } = {}) {
  const stored: boolean[] = [];
  const noteUnsent = async (_id: string, _token: string, isUnsent: boolean): Promise<boolean> => {
    stored.push(isUnsent);
    return isHeld;
  };
  const context = {
    ...{ taskId: 't', token: 'c', signal: new AbortController().signal },
    assertClaimHeld: () => Promise.reject(new Error('claim lost')),
  };
  const turn: StoredTurn = { options: {}, begunAt: new Date(), isAnswer: false, isUnsent: false, hasWebhook: false };
  const note = new UnsentNote({ tasks: { noteUnsent } as never }, context, turn, mayBeSent);
  return { note, stored, turn };
}

it('stores nothing if the Message is sent at once', async () => {
  const { note, stored } = startNote();
  note.beginAttempt();
  await note.beforeSend();
  note.openGate()();
  await jest.advanceTimersByTimeAsync(LATE_MS);
  note.endAttempt();
  expect([stored, note.hasMissed]).toEqual([[], false]);
});

it('stores the turn as unsent while its agent is looked up for long, and takes that back before it sends', async () => {
  const { note, stored } = startNote();
  note.beginAttempt();
  await jest.advanceTimersByTimeAsync(LATE_MS);
  expect(stored).toEqual([true]);
  await note.beforeSend();
  expect(stored).toEqual([true, false]);
  note.openGate()();
  expect(note.hasMissed).toBe(false);
});

it('stores the turn as unsent while the connection takes long, and sends nothing on it in this attempt', async () => {
  const { note, stored } = startNote();
  note.beginAttempt();
  await note.beforeSend();
  const pass = note.openGate();
  await jest.advanceTimersByTimeAsync(LATE_MS);
  expect(stored).toEqual([true]);
  expect(pass).toThrow('the connection came late');
  expect(note.hasMissed).toBe(true);
  note.beginAttempt();
  await note.beforeSend();
  const passNow = note.openGate();
  await jest.advanceTimersByTimeAsync(LATE_MS);
  passNow();
  expect([stored, note.hasMissed]).toEqual([[true, false], false]);
});

it('never stores a turn as unsent once it may have been sent', async () => {
  for (const mayBeSent of [false, true]) {
    const { note, stored } = startNote({ mayBeSent });
    note.beginAttempt();
    await note.beforeSend();
    note.openGate()();
    // The client repeats the attempt, and waits for a connection.
    note.openGate();
    await jest.advanceTimersByTimeAsync(LATE_MS);
    expect(stored).toEqual([]);
  }
});

it('is silent after the end of an attempt', async () => {
  const { note, stored } = startNote();
  note.beginAttempt();
  note.endAttempt();
  await jest.advanceTimersByTimeAsync(LATE_MS);
  expect(stored).toEqual([]);
});

it('gives the turn the error of a lost claim with the next statement', async () => {
  const { note } = startNote({ isHeld: false });
  note.beginAttempt();
  await jest.advanceTimersByTimeAsync(LATE_MS);
  await expect(note.store(true)).rejects.toThrow('claim lost');
});
