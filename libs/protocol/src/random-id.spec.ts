import { randomDigits, randomId } from './task.js';

describe('randomId', () => {
  it('makes UUIDs of version 4, all different, beyond what is drawn at once', () => {
    const ids = Array.from({ length: 2000 }, randomId);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('randomDigits', () => {
  it('are as many as asked for, and none twice', () => {
    const drawn = Array.from({ length: 500 }, (_, index) => randomDigits(16 + (index % 49)));
    expect(drawn.map(({ length }) => length)).toEqual(drawn.map((_, index) => 16 + (index % 49)));
    expect(new Set(drawn.map((it) => it.slice(0, 16))).size).toBe(drawn.length);
  });
});
