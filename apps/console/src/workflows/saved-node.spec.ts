import { savedStateOf } from './saved-node.js';

const node = (id: string, prompt: string, x = 0) => ({
  id,
  type: 'agent',
  config: { prompt },
  position: { x, y: 0 },
});

describe('the state of a node beside the saved workflow', () => {
  const saved = { nodes: [node('a', 'one'), node('b', 'two')] };

  it.each([
    ['same', node('a', 'one')],
    ['same', node('a', 'one', 80)],
    ['changed', node('a', 'two')],
    ['missing', node('c', 'one')],
    ['missing', { ...node('a', 'one'), type: 'tool' }],
  ])('is "%s" for %j', (state, drawn) => {
    expect(savedStateOf(drawn, saved)).toBe(state);
  });
});
