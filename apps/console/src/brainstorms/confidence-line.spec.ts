import { confidencePoints, confidenceSentence } from './confidence-line.js';

const pass = (iteration: number, confidence?: number) => ({
  iteration,
  agents: [],
  ...(confidence !== undefined && { confidence }),
});

describe('confidencePoints', () => {
  it('spreads complete passes over the width, and leaves the one at work out', () => {
    expect(confidencePoints([pass(1, 0.2), pass(2, 0.7), pass(3, 1), pass(4)], 100, 10)).toEqual([
      { iteration: 1, confidence: 0.2, x: 0, y: 8 },
      { iteration: 2, confidence: 0.7, x: 50, y: 10 * (1 - 0.7) },
      { iteration: 3, confidence: 1, x: 100, y: 0 },
    ]);
  });

  it('puts a single one in the middle, and a value beyond the range at its edge', () => {
    expect(confidencePoints([pass(1, 1.5)], 100, 10)).toEqual([{ iteration: 1, confidence: 1.5, x: 50, y: 0 }]);
  });
});

describe('confidenceSentence', () => {
  it('says where it began and where it is', () => {
    const points = confidencePoints([pass(1, 0.2), pass(2, 0.75)], 1, 1);
    expect(confidenceSentence(points)).toBe('Confidence from 0.20 after iteration 1 to 0.75 after iteration 2.');
    expect(confidenceSentence([])).toBe('No iteration is complete yet.');
  });
});
