import { Tabs } from 'radix-ui';
import { useMemo, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ErrorState } from '../components/error-state.js';
import { Loading } from '../components/loading.js';
import { SplitPane } from '../components/split-pane.js';
import { ConsolePanel } from '../console-panel/console-panel.js';
import type { EdgeOutcome } from '../graph/edge-look.js';
import type { EdgeReport } from '../graph/flow-elements.js';
import { LazyCanvas } from '../graph/lazy-canvas.js';
import { edgeIds } from '../graph/graph.js';
import { EdgeDetails } from './edge-details.js';
import { edgeStates } from './edge-states.js';
import { formatInstanceName, parseInstanceName } from './instance-name.js';
import { NodeDetails } from './node-details.js';
import type { RunWorkflow } from './run-api.js';
import { RunHeader } from './run-header.js';
import { RunOverview } from './run-overview.js';
import { runCard } from './run-cards.js';
import { RunLoopHead } from './run-loop-head.js';
import { isPlain, type RunPicture, UNREAD } from './run-picture.js';
import { instanceOf, NEWEST, type Shown, shownNode, shownPlace, shownWith } from './run-scope.js';
import type { TimelinePart } from './timeline-parts.js';
import { TimelineView } from './timeline-view.js';
import { useRunLog } from './use-run-log.js';

interface RunViewProps {
  runId: string;
  workflow: RunWorkflow;
  selected: string | undefined;
}

/**
 * Shows a run: its graph and timeline, the details of the selected node, and the console panel below. The view updates
 * live.
 */
export function RunView({ runId, workflow, selected }: RunViewProps) {
  const { picture, lines, parts, connection, error } = useRunLog(runId, workflow);
  const [, navigate] = useLocation();
  const [stepped, setStepped] = useState<Shown>(NEWEST);
  const shown = useMemo(() => shownWith(picture, selected, stepped), [picture, selected, stepped]);
  const selectInstance = (name: string | undefined): void => {
    const search = withoutEdge(location.search);
    // Keep the shown iterations when the selection changes.
    setStepped(shown);
    navigate(`/${encodeURIComponent(runId)}${name === undefined ? '' : `/nodes/${encodeURIComponent(name)}`}${search}`);
  };
  const showIteration = (key: string, iteration: number): void => {
    const next = new Map(shown).set(key, iteration);
    // An entry for the newest iteration is removed, so that the view follows the run again.
    if (picture.loops.get(key)?.iteration === iteration) next.delete(key);
    setStepped(next);
    const instance = selected === undefined ? undefined : parseInstanceName(selected);
    if (!instance || instance.path.length === 0) return;
    const place = shownPlace(picture, instance.node, next);
    const name = next.size === 0 ? place.node : formatInstanceName(place);
    navigate(`/${encodeURIComponent(runId)}/nodes/${encodeURIComponent(name)}${location.search}`);
  };
  const node = selected === undefined ? undefined : selectedNode(picture, selected, shown);
  const edges = useEdges(picture, shown, runId);
  const run = { runId, workflow: workflow.name };
  return (
    <div className="flex h-full flex-col">
      <RunHeader run={run} picture={picture} connection={connection} node={selected} />
      {error !== undefined && <ErrorState error={error} />}
      <div className="min-h-120 grow">
        <SplitPane
          label="Height of the console"
          direction="below"
          name="console"
          initial={innerWidth < 768 ? 190 : 220}
        >
          <div className="flex h-full flex-col md:flex-row">
            <div className="relative min-h-0 min-w-0 grow">
              <Pictures
                picture={picture}
                parts={parts}
                selected={node?.id}
                edges={edges}
                shown={shown}
                onSelect={selectInstance}
                onShow={showIteration}
              />
            </div>
            <aside
              aria-label="Details"
              className="max-h-[55%] shrink-0 overflow-y-auto border-t bg-card p-4 md:max-h-none md:w-88 md:border-t-0 md:border-l"
            >
              {node ? (
                <NodeDetails run={run} node={node} picture={picture} onSelect={selectInstance} />
              ) : edges.selected === undefined ? (
                <RunOverview run={run} picture={picture} onSelect={selectInstance} />
              ) : (
                <EdgeDetails
                  picture={picture}
                  index={edges.selected}
                  state={edges.states[edges.selected]}
                  onSelect={selectInstance}
                />
              )}
            </aside>
          </div>
          <ConsolePanel lines={lines} empty={describeEmptyLog(picture, error)} />
        </SplitPane>
      </div>
    </div>
  );
}

/** Returns the text that the console shows without an event. */
function describeEmptyLog({ status }: RunPicture, error: unknown): string {
  if (status !== UNREAD) return 'Nothing happened yet.';
  return error === undefined ? 'Loading …' : 'The events could not be read.';
}

/** Returns the instance that the address names; for a bare node id, the shown instance. */
function selectedNode(picture: RunPicture, name: string, shown: Shown) {
  const { path, index, node } = parseInstanceName(name);
  return path.length > 0 || index !== undefined ? instanceOf(picture, name) : shownNode(picture, node, shown);
}

interface RunEdges {
  /** State of each edge, by index; empty if the workflow has no choices. */
  states: readonly EdgeOutcome[];
  /** Index of the edge that the address names. */
  selected: number | undefined;
  /** Selects an edge by its id; missing if edges have no details. */
  select?: (id: string) => void;
}

/** Returns the states of a run's edges, and the index of the selected edge. */
function useEdges(picture: RunPicture, shown: Shown, runId: string): RunEdges {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const states = useMemo(
    () => (isPlain(picture.graph) || picture.status === UNREAD ? [] : edgeStates(picture, shown)),
    [picture, shown],
  );
  if (states.length === 0) return { states, selected: undefined };
  const index = Number(search.get('edge') ?? -1);
  return {
    states,
    selected: picture.graph.edges[index] ? index : undefined,
    select: (id) => {
      const next = new URLSearchParams(location.search);
      next.set('edge', String(edgeIds(picture.graph.edges).indexOf(id)));
      navigate(`/${encodeURIComponent(runId)}?${next.toString()}`);
    },
  };
}

function withoutEdge(search: string): string {
  const rest = new URLSearchParams(search);
  rest.delete('edge');
  return rest.size === 0 ? '' : `?${rest.toString()}`;
}

interface PicturesProps {
  picture: RunPicture;
  parts: readonly TimelinePart[];
  /** Id of the selected node. */
  selected: string | undefined;
  edges: RunEdges;
  shown: Shown;
  onSelect: (id: string | undefined) => void;
  onShow: (key: string, iteration: number) => void;
}

/** Shows the graph or the timeline of a run, as the address says. */
function Pictures({ picture, parts, selected, edges, shown, onSelect, onShow }: PicturesProps) {
  const [search, setSearch] = useSearchParams();
  const view = search.get('view') === 'timeline' ? 'timeline' : 'graph';
  const selectedEdge = edges.selected === undefined ? undefined : edgeIds(picture.graph.edges)[edges.selected];
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
      <Tabs.Content value="graph" className="min-h-0 grow outline-none">
        <LazyCanvas
          label="Run"
          graph={picture.graph}
          selected={selected}
          onSelect={onSelect}
          dataOf={(id) => runCard(picture, id, shown)}
          edgeOf={(index) => edgeReport(picture, shown, index, edges.states[index])}
          selectedEdge={selectedEdge}
          {...(edges.select && { onSelectEdge: edges.select })}
          loopHead={(loop) => <RunLoopHead loop={loop} picture={picture} shown={shown} onShow={onShow} />}
        />
      </Tabs.Content>
      <Tabs.Content value="timeline" className="min-h-0 grow outline-none">
        {picture.status === UNREAD ? (
          <Loading />
        ) : (
          <TimelineView picture={picture} parts={parts} selected={selected} onSelect={onSelect} />
        )}
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
