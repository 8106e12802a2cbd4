import { Tabs } from 'radix-ui';
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import { Loading } from '../components/loading.js';
import type { EdgeOutcome } from '../graph/edge-look.js';
import type { EdgeReport } from '../graph/flow-elements.js';
import { edgeIds } from '../graph/graph.js';
import { LazyCanvas } from '../graph/lazy-canvas.js';
import { runCard } from './run-cards.js';
import { RunLoopHead } from './run-loop-head.js';
import { type RunPicture, UNREAD } from './run-picture.js';
import { type Shown, shownNode } from './run-scope.js';
import type { TimelinePart } from './timeline-parts.js';
import { TimelineView } from './timeline-view.js';

export interface RunEdges {
  /** State of each edge, by index; empty if the workflow has no choices. */
  states: readonly EdgeOutcome[];
  /** Index of the edge that the address names. */
  selected: number | undefined;
  /** Selects an edge by its id; missing if edges have no details. */
  select?: (id: string) => void;
}

export interface PicturesProps {
  picture: RunPicture;
  parts: readonly TimelinePart[];
  /** Id of the selected node. */
  selected: string | undefined;
  edges: RunEdges;
  shown: Shown;
  onSelect: (id: string | undefined) => void;
  onShow: (key: string, iteration: number) => void;
}

/** Shows the graph of a run. */
export function RunGraphView({ picture, selected, edges, shown, onSelect, onShow }: PicturesProps) {
  const selectedEdge = edges.selected === undefined ? undefined : edgeIds(picture.graph.edges)[edges.selected];
  const { states } = edges;
  const edgeOf = useCallback(
    (index: number) => edgeReport(picture, shown, index, states[index]),
    [picture, shown, states],
  );
  return (
    <LazyCanvas
      label="Run"
      graph={picture.graph}
      selected={selected}
      onSelect={onSelect}
      dataOf={(id) => runCard(picture, id, shown)}
      edgeOf={edgeOf}
      selectedEdge={selectedEdge}
      {...(edges.select && { onSelectEdge: edges.select })}
      loopHead={(loop) => <RunLoopHead loop={loop} picture={picture} shown={shown} onShow={onShow} />}
    />
  );
}

/** Shows the timeline of a run. */
export function RunTimeline({ picture, parts, selected, onSelect }: PicturesProps) {
  if (picture.status === UNREAD) return <Loading />;
  return <TimelineView picture={picture} parts={parts} selected={selected} onSelect={onSelect} />;
}

/** Shows the graph or the timeline of a run, whichever the address names. */
export function RunPictures(props: PicturesProps) {
  const [search, setSearch] = useSearchParams();
  const view = search.get('view') === 'timeline' ? 'timeline' : 'graph';
  return (
    <Tabs.Root
      value={view}
      onValueChange={(value) => setSearch(value === 'timeline' ? { view: value } : {}, { replace: true })}
      className="flex h-full flex-col"
    >
      <Tabs.List aria-label="Pictures of the run" className="flex shrink-0 gap-1 border-b bg-card px-3 py-1">
        <Tabs.Trigger value="graph" className={TAB}>
          Graph
        </Tabs.Trigger>
        <Tabs.Trigger value="timeline" className={TAB}>
          Timeline
        </Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="graph" className="min-h-0 grow -outline-offset-2">
        <RunGraphView {...props} />
      </Tabs.Content>
      <Tabs.Content value="timeline" className="min-h-0 grow -outline-offset-2">
        <RunTimeline {...props} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

const TAB =
  'rounded px-2.5 py-1 text-sm text-muted-foreground hover:text-foreground data-[state=active]:bg-muted data-[state=active]:font-medium data-[state=active]:text-foreground';

function edgeReport(picture: RunPicture, shown: Shown, index: number, state: EdgeOutcome): EdgeReport {
  const { to = '', loop } = picture.graph.edges[index] ?? {};
  const error = picture.edgeErrors.get(index);
  return {
    state,
    problems: error === undefined ? [] : [error],
    moves: !loop && shownNode(picture, to, shown)?.status === 'running',
  };
}
