import type { Graph } from '../graph/graph.js';
import { layersOf, type Link } from '../graph/layers.js';

/** Box of a node in a picture. */
interface PictureBox {
  id: string;
  type: string;
  x: number;
  y: number;
}

/** Small picture of a graph: boxes in columns, and lines between them. */
export interface GraphPicture {
  width: number;
  height: number;
  boxes: PictureBox[];
  /** Lines between the nodes, as SVG paths. */
  lines: string[];
}

/** Size of a box, and distance between the starts of two columns and of two rows. */
export const BOX = { width: 22, height: 12 } as const;
const STEP = { x: 34, y: 20 } as const;

/** Returns the picture of a graph. An edge that closes a loop has no line. */
export function pictureOf({ nodes, edges }: Graph): GraphPicture {
  const indexes = new Map(nodes.map(({ id }, index) => [id, index]));
  const links = edges.flatMap(({ from, to }): Link[] => {
    const [source, target] = [indexes.get(from), indexes.get(to)];
    return source === undefined || target === undefined ? [] : [[source, target]];
  });
  const { layerOf, nodesOf } = layersOf(nodes.length, links);
  const tallest = nodesOf.reduce((most, layer) => Math.max(most, layer.length), 1);
  const boxes = nodes.map(({ id, type }, node) => {
    const layer = nodesOf[layerOf[node] ?? 0] ?? [];
    const above = (tallest - layer.length) / 2;
    return { id, type, x: 1 + (layerOf[node] ?? 0) * STEP.x, y: 1 + (above + layer.indexOf(node)) * STEP.y };
  });
  const lines = links.flatMap(([from, to]) => {
    const [source, target] = [boxes[from]!, boxes[to]!];
    return source.x < target.x ? [lineOf(source, target)] : [];
  });
  return {
    width: (nodesOf.length - 1) * STEP.x + BOX.width + 2,
    height: (tallest - 1) * STEP.y + BOX.height + 2,
    boxes,
    lines,
  };
}

function lineOf(source: PictureBox, target: PictureBox): string {
  const [x1, y1] = [source.x + BOX.width, source.y + BOX.height / 2];
  const [x2, y2] = [target.x, target.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
