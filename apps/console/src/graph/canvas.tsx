import {
  Background,
  type Connection,
  Controls,
  type EdgeChange,
  type FitViewOptions,
  getNodesBounds,
  getViewportForBounds,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
  useStore,
  type Viewport,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import {
  type DragEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Loading } from '../components/loading.js';
import { useStableHandler } from '../components/use-stable-handler.js';
import { useWideWindow } from '../components/use-wide-window.js';
import { useTheme } from '../shell/theme.js';
import { type CanvasTarget, useCanvasMenu } from './canvas-target.js';
import { EdgeElements } from './edge-elements.js';
import { FAR_ZOOM, FarView } from './far-view.js';
import { type CanvasEdge, FlowEdge } from './flow-edge.js';
import { type EdgeReport, flowEdges } from './flow-elements.js';
import { DRAGGED_TYPE, type Graph, type DefinitionEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { LoopFrames } from './loop-frames.js';
import { FindNode } from './find-node.js';
import { GraphMap, paddingFor } from './graph-map.js';
import type { GraphLoop } from './loops.js';
import type { CardData } from './card-data.js';
import { type CardNode, NodeCard } from './node-card.js';
import { NodeElements } from './node-elements.js';
import { NoteCard } from './note-card.js';
import { type NoteElement, noteElements } from './note-elements.js';
import { edgeSelection, nodeSelection, type SelectionChanges } from './selected-elements.js';
import { useInSight } from './use-in-sight.js';
import { type MovedParts, useNodeChanges } from './use-node-changes.js';
import { usePlaces } from './use-places.js';

export interface CanvasProps {
  graph: Graph;
  label: string;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  /** Id of the selected edge. Edges can be selected only with `onSelectEdge`. */
  selectedEdge?: string | undefined;
  onSelectEdge?: (id: string) => void;
  /** Returns the content of a node's card, in addition to the node's id and type. */
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
  /** Selected nodes, edges and notes, in place of `selected` and `selectedEdge`. */
  selection: { nodes: ReadonlySet<string>; edges: ReadonlySet<string>; notes: ReadonlySet<number> };
  select: (changes: SelectionChanges) => void;
  move: (moved: MovedParts) => void;
  connect: (edge: DefinitionEdge) => void;
  /** Opens the context menu of a part of the canvas. */
  openMenu: (target: CanvasTarget) => void;
  /** Adds a node of a type that was dropped from the palette. */
  drop: (type: string, position: Position) => void;
}

const NODE_TYPES = { card: NodeCard, note: NoteCard };
const EDGE_TYPES = { flow: FlowEdge };
/** Keys that add a clicked node or edge to the selection. */
const ADDING_KEYS = ['Control', 'Meta', 'Shift'];
const NO_NOTES: ReadonlySet<number> = new Set();
/** Number of nodes above which only the nodes inside the visible area are drawn, and those in a far view as boxes. */
const MANY = 100;
const LEAST_ZOOM = 0.05;
/** Minimum number of nodes at which a map and a search field are shown. */
const LARGE = 25;

/** Shows a workflow as a graph. */
export function Canvas(props: CanvasProps) {
  const places = usePlaces(props.graph);
  const [frame, setFrame] = useState<CanvasFrame>();
  const measureFrame = useCallback((box: HTMLElement | null) => {
    if (box) setFrame(frameOf(box));
  }, []);
  if (!places) return <Loading />;
  return (
    <div ref={measureFrame} className="h-full w-full">
      {frame && (
        <ReactFlowProvider>
          <Flow {...props} places={places} frame={frame} />
        </ReactFlowProvider>
      )}
    </div>
  );
}

/** Size of the canvas in pixels when it is first shown. */
interface CanvasFrame {
  width: number;
  height: number;
}

interface FlowProps extends CanvasProps {
  places: ReadonlyMap<string, Position>;
  frame: CanvasFrame;
}

function frameOf(box: Element): CanvasFrame {
  const { width, height } = box.getBoundingClientRect();
  return { width, height };
}

function Flow(props: FlowProps) {
  const { graph, places, label, selected, onSelect, edit, loopHead } = props;
  const { dark } = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const droppedRef = useRef(false);
  const drop = useDrop(edit?.drop, droppedRef);
  const editable = edit !== undefined;
  const canHaveMap = useWideWindow() && graph.nodes.length >= LARGE;
  const [mapShown, setMapShown] = useState(true);
  const padding = paddingFor(canHaveMap && mapShown);
  const group = edit?.selection.nodes;
  useInSight({ box, places, selected, group, padding, fits: props.fits ?? 0, droppedRef });
  const isLarge = graph.nodes.length > MANY;
  const isFar = useStore(({ transform }) => isLarge && transform[2] < FAR_ZOOM);
  const { nodes, edges, shown, onNodesChange, onEdgesChange } = useElements(props);
  const menu = useCanvasMenu(box, edit?.openMenu);
  const fitViewOptions = useMemo(() => ({ maxZoom: 1, padding }), [padding]);
  // Keep the view if the graph starts empty: the first dropped node stays where it was dropped.
  const [defaultViewport] = useState(() =>
    graph.nodes.length === 0 ? undefined : firstViewport(nodes, props.frame, padding),
  );
  const connect = useStableHandler(({ source, target }: Connection) => edit?.connect({ from: source, to: target }));
  const select = useStableHandler(onSelect);
  const handleNodeClick = useStableHandler(({ ctrlKey, metaKey, shiftKey }: MouseEvent, { id }: { id: string }) => {
    const isAlone = (group?.size ?? 0) <= 1;
    if (!isAlone && group?.has(id) && !ctrlKey && !metaKey && !shiftKey) onSelect(id);
  });
  return (
    <FarView value={isFar}>
      <ReactFlow<CardNode | NoteElement, CanvasEdge>
        ref={box}
        aria-label={label}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={dark ? 'dark' : 'light'}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnect={connect}
        onPaneClick={() => onSelect(undefined)}
        onNodeClick={handleNodeClick}
        onDragOver={(event) => editable && event.preventDefault()}
        onDrop={drop}
        {...menu}
        nodesDraggable={editable}
        nodesConnectable={editable}
        edgesFocusable={props.onSelectEdge !== undefined}
        deleteKeyCode={null}
        selectionKeyCode={editable ? 'Shift' : null}
        multiSelectionKeyCode={editable ? ADDING_KEYS : null}
        selectionMode={SelectionMode.Partial}
        onlyRenderVisibleElements={isLarge}
        minZoom={LEAST_ZOOM}
        {...(defaultViewport && { defaultViewport })}
        fitViewOptions={fitViewOptions}
      >
        <LabelScale box={box} />
        <Background />
        <LoopFrames graph={graph} places={shown} headOf={loopHead} />
        <Controls showInteractive={false} className="max-md:hidden!" />
        {canHaveMap && <GraphMap open={mapShown} onToggle={() => setMapShown(!mapShown)} />}
        {graph.nodes.length >= LARGE && <FindNode nodes={graph.nodes} onFind={select} />}
      </ReactFlow>
    </FarView>
  );
}

/** Returns the viewport that shows the whole graph. A fit after the first drawing would draw all nodes a second time. */
function firstViewport(
  nodes: Elements['nodes'],
  { width, height }: CanvasFrame,
  padding: NonNullable<FitViewOptions['padding']>,
): Viewport {
  return getViewportForBounds(getNodesBounds(nodes), width, height, LEAST_ZOOM, 1, padding);
}

interface Elements {
  nodes: (CardNode | NoteElement)[];
  edges: CanvasEdge[];
  /** Positions of the nodes, including those that are being dragged. */
  shown: ReadonlyMap<string, Position>;
  onNodesChange: (changes: NodeChange<CardNode | NoteElement>[]) => void;
  onEdgesChange: (changes: EdgeChange<CanvasEdge>[]) => void;
}

/** Returns the elements of the canvas, and handles their changes. */
function useElements({ graph, places, selected, selectedEdge, dataOf, edgeOf, edit, ...props }: FlowProps): Elements {
  const { dragged, applyPositions } = useNodeChanges(edit?.move);
  const shown = useMemo(() => new Map([...places, ...dragged.nodes]), [places, dragged]);
  const nodesSelected = useMemo(() => edit?.selection.nodes ?? setOf(selected), [edit?.selection.nodes, selected]);
  const edgesSelected = useMemo(
    () => edit?.selection.edges ?? setOf(selectedEdge),
    [edit?.selection.edges, selectedEdge],
  );
  const editable = edit !== undefined;
  const notesSelected = edit?.selection.notes ?? NO_NOTES;
  const notes = useMemo(
    () => noteElements(graph.notes ?? [], { dragged: dragged.notes, selected: notesSelected, editable }),
    [graph.notes, dragged.notes, notesSelected, editable],
  );
  const [elements] = useState(() => ({ nodes: new NodeElements(), edges: new EdgeElements() }));
  const cards = elements.nodes.update(graph, { places: shown, selected: nodesSelected, editable, dataOf });
  const nodes = useMemo(() => [...notes, ...cards], [notes, cards]);
  const selectEdge = useStableHandler((id: string) => props.onSelectEdge?.(id));
  const drawn = useMemo(
    () => flowEdges(graph, { places: shown, selected: edgesSelected, onSelect: selectEdge, reportOf: edgeOf }),
    [graph, shown, edgesSelected, edgeOf, selectEdge],
  );
  const edges = useMemo(() => [...elements.edges.update(drawn)], [elements, drawn]);
  const select = (changes: SelectionChanges): void => {
    if (edit) return edit.select(changes);
    const node = lastSelected(changes.nodes);
    const edge = lastSelected(changes.edges);
    if (node !== undefined) props.onSelect(node);
    if (edge !== undefined) props.onSelectEdge?.(edge);
  };
  const onNodesChange = useStableHandler((changes: NodeChange<CardNode | NoteElement>[]) => {
    select(nodeSelection(changes));
    applyPositions(changes);
  });
  const onEdgesChange = useStableHandler((changes: EdgeChange<CanvasEdge>[]) => select(edgeSelection(changes)));
  return { nodes, edges, shown, onNodesChange, onEdgesChange };
}

function setOf(id: string | undefined): ReadonlySet<string> {
  return new Set(id === undefined ? [] : [id]);
}

function lastSelected(changes: ReadonlyMap<string, boolean> | undefined): string | undefined {
  return [...(changes ?? [])].findLast(([, is]) => is)?.[0];
}

/**
 * Sets `--zoom` on the canvas, by which labels keep a readable size; shows nothing. It stays the same in a far view, which
 * has no labels: every change has the browser compute the style of all cards.
 */
function LabelScale({ box }: { box: RefObject<HTMLDivElement | null> }) {
  const zoom = useStore(({ transform }) => Math.max(transform[2], FAR_ZOOM));
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
