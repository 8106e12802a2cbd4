import { pictureOf } from './template-picture.js';

describe('the picture of a graph', () => {
  const node = (id: string) => ({ id, type: 'agent', config: {} });

  it('has a column for each layer, and no line for an edge that leads back', () => {
    const picture = pictureOf({
      nodes: ['a', 'b', 'c', 'd'].map(node),
      edges: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'c' },
        { from: 'b', to: 'd' },
        { from: 'c', to: 'd' },
        { from: 'd', to: 'b', loop: { max_iterations: 2 } },
        { from: 'd', to: 'gone' },
      ],
    });
    const columns = picture.boxes.map(({ id, x }) => [id, x]);
    expect(columns).toEqual([
      ['a', 1],
      ['b', 35],
      ['c', 35],
      ['d', 69],
    ]);
    expect(picture.lines).toHaveLength(4);
    for (const { x, y } of picture.boxes) {
      expect(x + 22).toBeLessThanOrEqual(picture.width);
      expect(y + 12).toBeLessThanOrEqual(picture.height);
    }
  });

  it('of a graph without nodes is empty', () => {
    expect(pictureOf({ nodes: [], edges: [] })).toMatchObject({ boxes: [], lines: [] });
  });
});
