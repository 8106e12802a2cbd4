import {
  Background,
  type Connection,
  Controls,
  type Edge,
  type EdgeChange,
  MarkerType,
  type NodeChange,
  type NodeHandle,
  type OnConnect,
  Position as Side,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { type DragEvent, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useTheme } from '../shell/theme.js';
import { DRAGGED_TYPE, edgeId, type Graph, type GraphEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { type CardData, type CardNode, NodeCard } from './node-card.js';
import { nodeLook } from './node-looks.js';
import { placed } from './layout.js';

export interface CanvasProps {
  graph: Graph;
  label: string;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  /** What a node shows beside its id and type. */
  dataOf?: (id: string) => Partial<CardData>;
  /** What the person changes; without it the graph can only be looked at. */
  edit?: CanvasEdit;
}

export interface CanvasEdit {
  move: (moved: ReadonlyMap<string, Position>) => void;
  connect: (edge: GraphEdge) => void;
  remove: (nodes: readonly string[], edges: readonly string[]) => void;
  /** A type of the palette was dropped. */
  drop: (type: string, position: Position) => void;
}

const NODE_TYPES = { card: NodeCard };
const SIZE = { width: NODE_WIDTH, height: NODE_HEIGHT };
/** Known from the start, so that nodes out of sight need not be drawn to be measured. */
const HANDLE = { width: 12, height: 12, y: NODE_HEIGHT / 2 - 6 };
const HANDLES: NodeHandle[] = [
  { ...HANDLE, type: 'target', position: Side.Left, x: -6 },
  { ...HANDLE, type: 'source', position: Side.Right, x: NODE_WIDTH - 6 },
];

/** A workflow as a graph. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ graph, label, selected, onSelect, dataOf, edit }: CanvasProps) {
  const { dark } = useTheme();
  const [dragged, setDragged] = useState<ReadonlyMap<string, Position>>(new Map());
  const [selectedEdges, setSelectedEdges] = useState<ReadonlySet<string>>(new Set());
  // A first node that is dropped stays where it was dropped.
  const [fitView] = useState(() => graph.nodes.length > 0);
  const flow = useReactFlow();
  const places = useMemo(() => placed(graph), [graph]);
  const nodes = graph.nodes.map(({ id, type }): CardNode => ({
    id,
    type: 'card',
    position: dragged.get(id) ?? places.get(id) ?? { x: 0, y: 0 },
    ...SIZE,
    measured: SIZE,
    handles: HANDLES,
    selected: id === selected,
    ariaLabel: `${nodeLook(type).label} ${id}`,
    data: { id, type, connectable: edit !== undefined, ...dataOf?.(id) },
  }));
  const edges = graph.edges.map((edge): Edge => ({
    id: edgeId(edge),
    source: edge.from,
    target: edge.to,
    selected: selectedEdges.has(edgeId(edge)),
    ariaLabel: `From ${edge.from} to ${edge.to}`,
    markerEnd: { type: MarkerType.ArrowClosed },
    animated: dataOf?.(edge.to).status === 'running',
  }));

  const box = useRef<HTMLDivElement>(null);
  const bringIntoSight = useEffectEvent((id: string) => {
    const place = places.get(id);
    const frame = box.current?.getBoundingClientRect();
    if (!place || !frame) return;
    const { x, y } = flow.flowToScreenPosition(place);
    const inside = x > frame.left && x < frame.right - 60 && y > frame.top && y < frame.bottom - 30;
    const center = { x: place.x + NODE_WIDTH / 2, y: place.y + NODE_HEIGHT / 2 };
    if (!inside) void flow.setCenter(center.x, center.y, { zoom: flow.getZoom(), duration: 150 });
  });
  useEffect(() => {
    if (selected !== undefined && flow.viewportInitialized) bringIntoSight(selected);
  }, [selected, flow.viewportInitialized]);

  const takeNodes = (changes: NodeChange<CardNode>[]): void => {
    const chosen = changes.findLast((change) => change.type === 'select' && change.selected);
    if (chosen?.type === 'select') onSelect(chosen.id);
    const moves = changes.flatMap((it) => (it.type === 'position' && it.position ? [{ ...it, at: it.position }] : []));
    if (moves.length === 0) return;
    const places = new Map(moves.map(({ id, at }) => [id, at]));
    if (moves.some(({ dragging }) => dragging)) return setDragged(places);
    setDragged(new Map());
    edit?.move(places);
  };
  const takeEdges = (changes: EdgeChange[]): void => {
    const selections = changes.filter((change) => change.type === 'select');
    if (selections.length === 0) return;
    setSelectedEdges((last) => {
      const changes = new Map(selections.map((change) => [change.id, change.selected]));
      const kept = [...last].filter((id) => !changes.has(id));
      return new Set([...kept, ...[...changes].flatMap(([id, is]) => (is ? [id] : []))]);
    });
  };
  const drop = (event: DragEvent): void => {
    const type = event.dataTransfer.getData(DRAGGED_TYPE);
    if (type === '' || !edit) return;
    event.preventDefault();
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    edit.drop(type, { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) });
  };
  const connect: OnConnect = ({ source, target }: Connection) => edit?.connect({ from: source, to: target });

  return (
    <ReactFlow<CardNode>
      ref={box}
      aria-label={label}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      colorMode={dark ? 'dark' : 'light'}
      onNodesChange={takeNodes}
      onEdgesChange={takeEdges}
      onConnect={connect}
      onDelete={(gone) =>
        edit?.remove(
          gone.nodes.map(({ id }) => id),
          gone.edges.map(({ id }) => id),
        )
      }
      onPaneClick={() => onSelect(undefined)}
      onDragOver={(event) => edit && event.preventDefault()}
      onDrop={drop}
      nodesDraggable={edit !== undefined}
      nodesConnectable={edit !== undefined}
      edgesFocusable={edit !== undefined}
      deleteKeyCode={edit ? ['Delete', 'Backspace'] : null}
      onlyRenderVisibleElements={graph.nodes.length > 100}
      minZoom={0.25}
      fitView={fitView}
      fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
    >
      <Background />
      <Controls showInteractive={false} className="max-md:hidden!" />
    </ReactFlow>
  );
}
