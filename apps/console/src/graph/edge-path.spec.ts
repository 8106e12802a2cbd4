import { backPath, sidePath } from './edge-path.js';

describe('the lines of edges', () => {
  it('leads back under what it repeats', () => {
    const { path, label } = backPath({ x: 500, y: 30 }, { x: 0, y: 90 }, 200);
    expect(path).toBe(
      'M500,30 L508,30 Q516,30 516,42 L516,188 Q516,200 504,200 L-4,200 Q-16,200 -16,188 L-16,102 Q-16,90 -8,90 L0,90',
    );
    expect(label).toEqual({ x: 250, y: 200 });
  });

  it('bends a second edge between two nodes away from the first', () => {
    expect(sidePath({ x: 0, y: 0 }, { x: 200, y: 0 }, 30)).toEqual({
      path: 'M0,0 C100,40 100,40 200,0',
      label: { x: 100, y: 30 },
    });
  });
});
