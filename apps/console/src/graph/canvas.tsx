import { Background, Controls, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { type DragEvent, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { Loading } from '../components/loading.js';
import { useWideWindow } from '../components/use-wide-window.js';
import { useTheme } from '../shell/theme.js';
import { chosenEdge } from './chosen-edge.js';
import { type CanvasEdge, FlowEdge } from './flow-edge.js';
import { type EdgeReport, flowEdges, flowNodes } from './flow-elements.js';
import { DRAGGED_TYPE, type Graph, type DefinitionEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { LoopFrames } from './loop-frames.js';
import { FindNode } from './find-node.js';
import { GraphMap, paddingFor } from './graph-map.js';
import type { GraphLoop } from './loops.js';
import type { CardData } from './card-data.js';
import { type CardNode, NodeCard } from './node-card.js';
import { useInSight } from './use-in-sight.js';
import { useNodeChanges } from './use-node-changes.js';
import { usePlaces } from './use-places.js';

export interface CanvasProps {
  graph: Graph;
  label: string;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  /** Id of the selected edge. Edges can be selected only with `onSelectEdge`. */
  selectedEdge?: string | undefined;
  onSelectEdge?: (id: string) => void;
  /** Returns the content of a node's card beside the node's id and type. */
  dataOf?: (id: string) => Partial<CardData>;
  /** Returns the facts that an edge shows beside its condition, by the edge's index. */
  edgeOf?: (index: number) => EdgeReport;
  /** Returns the head of a loop's frame. */
  loopHead?: (loop: GraphLoop) => ReactNode;
  /** Number that the caller raises to have the whole graph shown. */
  fits?: number;
  /** Callbacks for changes; without them the graph is read-only. */
  edit?: CanvasEdit;
}

export interface CanvasEdit {
  move: (moved: ReadonlyMap<string, Position>) => void;
  connect: (edge: DefinitionEdge) => void;
  remove: (nodes: readonly string[], edges: readonly string[]) => void;
  /** Adds a node of a type that was dropped from the palette. */
  drop: (type: string, position: Position) => void;
}

const NODE_TYPES = { card: NodeCard };
const EDGE_TYPES = { flow: FlowEdge };
/** Number of nodes above which only the nodes in view are drawn. */
const MANY = 100;
/** Number of nodes from which a map and a search field are shown. */
const LARGE = 25;

/** Shows a workflow as a graph. */
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

function Flow(props: FlowProps) {
  const { graph, places, label, selected, selectedEdge, onSelect, dataOf, edgeOf, edit, loopHead } = props;
  const selectEdge = (id: string | undefined): void => void (id !== undefined && props.onSelectEdge?.(id));
  const { dark } = useTheme();
  const box = useRef<HTMLDivElement>(null);
  // Keep the view if the graph starts empty: the first dropped node stays where it was dropped.
  const [fitView] = useState(() => graph.nodes.length > 0);
  const { dragged, take } = useNodeChanges(onSelect, edit?.move);
  const droppedRef = useRef(false);
  const drop = useDrop(edit?.drop, droppedRef);
  const editable = edit !== undefined;
  const canHaveMap = useWideWindow() && graph.nodes.length >= LARGE;
  const [mapShown, setMapShown] = useState(true);
  const padding = paddingFor(canHaveMap && mapShown);
  useInSight({ box, places, selected, padding, fits: props.fits ?? 0, droppedRef });
  const shown = new Map([...places, ...dragged]);
  return (
    <ReactFlow<CardNode, CanvasEdge>
      ref={box}
      aria-label={label}
      nodes={flowNodes(graph, { places: shown, selected, editable, dataOf })}
      edges={flowEdges(graph, { places: shown, selected: selectedEdge, onSelect: selectEdge, reportOf: edgeOf })}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      colorMode={dark ? 'dark' : 'light'}
      onNodesChange={take}
      onEdgesChange={(changes) => selectEdge(chosenEdge(changes))}
      onConnect={({ source, target }) => edit?.connect({ from: source, to: target })}
      onDelete={(gone) => edit?.remove(idsOf(gone.nodes), idsOf(gone.edges))}
      onPaneClick={() => onSelect(undefined)}
      onDragOver={(event) => editable && event.preventDefault()}
      onDrop={drop}
      nodesDraggable={editable}
      nodesConnectable={editable}
      edgesFocusable={props.onSelectEdge !== undefined}
      deleteKeyCode={editable ? ['Delete', 'Backspace'] : null}
      onlyRenderVisibleElements={graph.nodes.length > MANY}
      minZoom={0.05}
      fitView={fitView}
      fitViewOptions={{ maxZoom: 1, padding }}
    >
      <LabelScale box={box} />
      <Background />
      <LoopFrames graph={graph} places={shown} headOf={loopHead} />
      <Controls showInteractive={false} className="max-md:hidden!" />
      {canHaveMap && <GraphMap open={mapShown} onToggle={() => setMapShown(!mapShown)} />}
      {graph.nodes.length >= LARGE && <FindNode ids={graph.nodes.map(({ id }) => id)} onFind={onSelect} />}
    </ReactFlow>
  );
}

/** Sets `--zoom` on the canvas, by which labels keep a readable size; shows nothing. */
function LabelScale({ box }: { box: RefObject<HTMLDivElement | null> }) {
  const zoom = useStore(({ transform }) => transform[2]);
  useLayoutEffect(() => box.current?.style.setProperty('--zoom', String(zoom)), [box, zoom]);
  return null;
}

/**
 * Returns a handler for types dropped from the palette; the node is centered at the pointer.
 * @param droppedRef set to true when a node is added by a drop
 */
function useDrop(onDrop: CanvasEdit['drop'] | undefined, droppedRef: RefObject<boolean>): (event: DragEvent) => void {
  const flow = useReactFlow();
  return (event) => {
    const type = event.dataTransfer.getData(DRAGGED_TYPE);
    if (type === '' || !onDrop) return;
    event.preventDefault();
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    droppedRef.current = true;
    onDrop(type, { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) });
  };
}

function idsOf(elements: readonly { id: string }[]): string[] {
  return elements.map(({ id }) => id);
}
