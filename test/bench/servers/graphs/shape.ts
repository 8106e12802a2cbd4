// Two graphs of nodes that do nothing: a chain of so many, and so many at once between a first and a last one.
export type Shape = 'chain' | 'fan';

export interface Graph {
  nodes: string[];
  edges: { from: string; to: string }[];
}

export const WIDTH = 100;

/** @param width number of parallel nodes of a fan, or length of a chain */
export function graphOf(shape: Shape, width = WIDTH): Graph {
  const middle = Array.from({ length: width }, (_, index) => `n${String(index + 1).padStart(3, '0')}`);
  if (shape === 'chain') {
    return { nodes: middle, edges: middle.slice(1).map((to, index) => ({ from: middle[index] ?? '', to })) };
  }
  const edges = middle.flatMap((node) => [
    { from: 'first', to: node },
    { from: node, to: 'last' },
  ]);
  return { nodes: ['first', ...middle, 'last'], edges };
}
