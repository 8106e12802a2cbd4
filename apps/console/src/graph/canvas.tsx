import { Background, Controls, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { type DragEvent, useRef, useState } from 'react';
import { Loading } from '../components/loading.js';
import { useTheme } from '../shell/theme.js';
import { flowEdges, flowNodes } from './flow-elements.js';
import { DRAGGED_TYPE, type Graph, type GraphEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { type CardData, type CardNode, NodeCard } from './node-card.js';
import { useEdgeSelection } from './use-edge-selection.js';
import { useInSight } from './use-in-sight.js';
import { useNodeChanges } from './use-node-changes.js';
import { usePlaces } from './use-places.js';

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
/** From so many nodes on, only those in sight are drawn. */
const MANY = 100;
const VIEW_OPTIONS = { maxZoom: 1, padding: 0.15 };

/** A workflow as a graph. */
export function Canvas(props: CanvasProps) {
  const places = usePlaces(props.graph);
  if (!places) return <Loading />;
  return (
    <ReactFlowProvider>
      <Flow {...props} places={places} />
    </ReactFlowProvider>
  );
}

interface FlowProps extends CanvasProps {
  places: ReadonlyMap<string, Position>;
}

function Flow({ graph, places, label, selected, onSelect, dataOf, edit }: FlowProps) {
  const { dark } = useTheme();
  const box = useRef<HTMLDivElement>(null);
  // A first node that is dropped stays where it was dropped.
  const [fitView] = useState(() => graph.nodes.length > 0);
  const { dragged, take } = useNodeChanges(onSelect, edit?.move);
  const edges = useEdgeSelection();
  const drop = useDrop(edit?.drop);
  const editable = edit !== undefined;
  useInSight(box, selected, places);
  const state = { places: new Map([...places, ...dragged]), selected, editable, dataOf };
  return (
    <ReactFlow<CardNode>
      ref={box}
      aria-label={label}
      nodes={flowNodes(graph, state)}
      edges={flowEdges(graph, edges.selected, dataOf)}
      nodeTypes={NODE_TYPES}
      colorMode={dark ? 'dark' : 'light'}
      onNodesChange={take}
      onEdgesChange={edges.take}
      onConnect={({ source, target }) => edit?.connect({ from: source, to: target })}
      onDelete={(gone) => edit?.remove(idsOf(gone.nodes), idsOf(gone.edges))}
      onPaneClick={() => onSelect(undefined)}
      onDragOver={(event) => editable && event.preventDefault()}
      onDrop={drop}
      nodesDraggable={editable}
      nodesConnectable={editable}
      edgesFocusable={editable}
      deleteKeyCode={editable ? ['Delete', 'Backspace'] : null}
      onlyRenderVisibleElements={graph.nodes.length > MANY}
      minZoom={0.25}
      fitView={fitView}
      fitViewOptions={VIEW_OPTIONS}
    >
      <Background />
      <Controls showInteractive={false} className="max-md:hidden!" />
    </ReactFlow>
  );
}

/** Takes a type of the palette that is dropped: the pointer is then at the middle of the node. */
function useDrop(onDrop: CanvasEdit['drop'] | undefined): (event: DragEvent) => void {
  const flow = useReactFlow();
  return (event) => {
    const type = event.dataTransfer.getData(DRAGGED_TYPE);
    if (type === '' || !onDrop) return;
    event.preventDefault();
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    onDrop(type, { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) });
  };
}

function idsOf(elements: readonly { id: string }[]): string[] {
  return elements.map(({ id }) => id);
}
