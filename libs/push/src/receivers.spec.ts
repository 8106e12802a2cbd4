import { Receivers } from './receivers.js';

const ORIGIN = 'http://hook.test';
const DOWN = { delivered: false, error: 'connect' };
let now = 0;
let receivers: Receivers;

beforeEach(() => {
  now = 0;
  receivers = new Receivers(() => now);
});

it('lets two attempts at one origin go on at a time, and others beside them', () => {
  expect([receivers.enter(ORIGIN), receivers.enter(ORIGIN)]).toEqual([0, 0]);
  expect(receivers.enter(ORIGIN)).toBeGreaterThan(0);
  expect(receivers.enter('http://other.test')).toBe(0);
  receivers.leave(ORIGIN, { delivered: true, status: 200 });
  expect(receivers.enter(ORIGIN)).toBe(0);
});

it('rests from an origin that gives no answer, longer each time', () => {
  const rests = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
    expect(receivers.enter(ORIGIN)).toBe(0);
    receivers.leave(ORIGIN, DOWN);
    const rest = receivers.enter(ORIGIN);
    now += rest;
    return rest;
  });
  expect(rests).toEqual([1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 60e3, 60e3]);
});

it('forgets the failures with any answer', () => {
  receivers.enter(ORIGIN);
  receivers.leave(ORIGIN, DOWN);
  now = 1_000;
  receivers.enter(ORIGIN);
  receivers.leave(ORIGIN, { delivered: false, status: 503 });
  expect(receivers.enter(ORIGIN)).toBe(0);
});

it('takes no attempt that was broken off for a failure', () => {
  receivers.enter(ORIGIN);
  receivers.leave(ORIGIN);
  expect(receivers.enter(ORIGIN)).toBe(0);
});
