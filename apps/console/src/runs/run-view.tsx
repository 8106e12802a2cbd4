import { useMemo, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ErrorState } from '../components/error-state.js';
import { SplitPane } from '../components/split-pane.js';
import { useWideWindow } from '../components/use-wide-window.js';
import { ConsolePanel } from '../console-panel/console-panel.js';
import { edgeIds } from '../graph/graph.js';
import { EdgeDetails } from './edge-details.js';
import { edgeStates } from './edge-states.js';
import { formatInstanceName, parseInstanceName } from './instance-name.js';
import { NarrowRun } from './narrow-run.js';
import { NodeDetails } from './node-details.js';
import type { RunWorkflow } from './run-api.js';
import { RunHeader } from './run-header.js';
import { RunOverview } from './run-overview.js';
import { type PicturesProps, type RunEdges, RunGraphView, RunPictures, RunTimeline } from './run-pictures.js';
import { isPlain, type RunPicture, UNREAD } from './run-picture.js';
import { instanceOf, NEWEST, type Shown, shownNode, shownPlace, shownWith } from './run-scope.js';
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
  const isWide = useWideWindow();
  const [stepped, setStepped] = useState<Shown>(NEWEST);
  const shown = useMemo(() => shownWith(picture, selected, stepped), [picture, selected, stepped]);
  const selectInstance = (name: string | undefined): void => {
    const search = withoutEdge(location.search, isWide);
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
  const edges = useEdges(picture, shown, runId, isWide);
  const run = { runId, workflow: workflow.name };
  const details = node ? (
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
  );
  const pictures: PicturesProps = {
    picture,
    parts,
    selected: node?.id,
    edges,
    shown,
    onSelect: selectInstance,
    onShow: showIteration,
  };
  const log = <ConsolePanel lines={lines} empty={describeEmptyLog(picture, error)} />;
  const header = (
    <>
      <RunHeader run={run} picture={picture} connection={connection} node={selected} />
      {error !== undefined && <ErrorState error={error} />}
    </>
  );
  if (!isWide) {
    return (
      <NarrowRun
        header={header}
        isSelected={node !== undefined || edges.selected !== undefined}
        content={(tab) => {
          if (tab === 'details') return <aside aria-label="Details">{details}</aside>;
          if (tab === 'log') return log;
          return tab === 'timeline' ? <RunTimeline {...pictures} /> : <RunGraphView {...pictures} />;
        }}
      />
    );
  }
  return (
    <div className="flex h-full flex-col">
      {header}
      <div className="min-h-120 grow">
        <SplitPane label="Height of the console" direction="below" name="console" initial={220}>
          <div className="flex h-full">
            <div className="relative min-h-0 min-w-0 grow">
              <RunPictures {...pictures} />
            </div>
            <aside aria-label="Details" className="w-88 shrink-0 overflow-y-auto border-l bg-card p-4">
              {details}
            </aside>
          </div>
          {log}
        </SplitPane>
      </div>
    </div>
  );
}

/** Returns the text that the console panel shows while there are no events. */
function describeEmptyLog({ status }: RunPicture, error: unknown): string {
  if (status !== UNREAD) return 'Nothing happened yet.';
  return error === undefined ? 'Loading …' : 'The events could not be read.';
}

/** Returns the instance that the address names; for a bare node id, the shown instance. */
function selectedNode(picture: RunPicture, name: string, shown: Shown) {
  const { path, index, node } = parseInstanceName(name);
  return path.length > 0 || index !== undefined ? instanceOf(picture, name) : shownNode(picture, node, shown);
}

const NO_STATES: RunEdges['states'] = [];

/** Returns the states of a run's edges, and the index of the selected edge. */
function useEdges(picture: RunPicture, shown: Shown, runId: string, isWide: boolean): RunEdges {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const states = useMemo(
    () => (isPlain(picture.graph) || picture.status === UNREAD ? NO_STATES : edgeStates(picture, shown)),
    [picture, shown],
  );
  if (states.length === 0) return { states, selected: undefined };
  const index = Number(search.get('edge') ?? -1);
  return {
    states,
    selected: picture.graph.edges[index] ? index : undefined,
    select: (id) => {
      const next = new URLSearchParams(withoutEdge(location.search, isWide));
      next.set('edge', String(edgeIds(picture.graph.edges).indexOf(id)));
      navigate(`/${encodeURIComponent(runId)}?${next.toString()}`);
    },
  };
}

/**
 * Returns a query without the parameter of the selected edge; in a narrow window also without the tab, so that the
 * details are shown.
 */
function withoutEdge(search: string, isWide: boolean): string {
  const rest = new URLSearchParams(search);
  rest.delete('edge');
  if (!isWide) rest.delete('view');
  return rest.size === 0 ? '' : `?${rest.toString()}`;
}
