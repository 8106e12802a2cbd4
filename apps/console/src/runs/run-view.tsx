import { Tabs } from 'radix-ui';
import { useLocation, useSearchParams } from 'wouter';
import { ErrorState } from '../components/error-state.js';
import { SplitPane } from '../components/split-pane.js';
import { ConsolePanel } from '../console-panel/console-panel.js';
import { LazyCanvas } from '../graph/lazy-canvas.js';
import { NodeDetails } from './node-details.js';
import type { RunWorkflow } from './run-api.js';
import { RunHeader } from './run-header.js';
import { RunOverview } from './run-overview.js';
import type { RunPicture } from './run-picture.js';
import { TimelineView } from './timeline-view.js';
import { useRunLog } from './use-run-log.js';

interface RunViewProps {
  runId: string;
  workflow: RunWorkflow;
  selected: string | undefined;
}

/** A run as it goes: its graph and timeline, one of its nodes, and the console below. */
export function RunView({ runId, workflow, selected }: RunViewProps) {
  const { picture, lines, connection, error } = useRunLog(runId, workflow);
  const [, navigate] = useLocation();
  const select = (id: string | undefined): void => {
    const search = location.search;
    navigate(`/${encodeURIComponent(runId)}${id === undefined ? '' : `/nodes/${encodeURIComponent(id)}`}${search}`);
  };
  const node = selected === undefined ? undefined : picture.nodes.get(selected);
  const run = { runId, workflow: workflow.name };
  return (
    <div className="flex h-full flex-col">
      <RunHeader run={run} picture={picture} connection={connection} />
      {error !== undefined && <ErrorState error={error} />}
      <div className="min-h-0 grow">
        <SplitPane
          label="Height of the console"
          direction="below"
          name="console"
          initial={innerWidth < 768 ? 140 : 220}
        >
          <div className="flex h-full flex-col md:flex-row">
            <div className="relative min-h-0 min-w-0 grow">
              <Pictures picture={picture} selected={selected} onSelect={select} />
            </div>
            <aside
              aria-label="Details"
              className="max-h-[55%] shrink-0 overflow-y-auto border-t bg-card p-4 md:max-h-none md:w-88 md:border-t-0 md:border-l"
            >
              {node ? (
                <NodeDetails run={run} node={node} picture={picture} onClose={() => select(undefined)} />
              ) : (
                <RunOverview run={run} picture={picture} onSelect={select} />
              )}
            </aside>
          </div>
          <ConsolePanel lines={lines} />
        </SplitPane>
      </div>
    </div>
  );
}

interface PicturesProps {
  picture: RunPicture;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}

/** The graph and the timeline, one of them at a time; the address says which. */
function Pictures({ picture, selected, onSelect }: PicturesProps) {
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
      <Tabs.Content value="graph" className="min-h-0 grow outline-none">
        <LazyCanvas
          label="Run"
          graph={picture.graph}
          selected={selected}
          onSelect={onSelect}
          dataOf={(id) => cardOf(picture, id)}
          edgeOf={(index) => ({ moves: picture.nodes.get(picture.graph.edges[index]?.to ?? '')?.status === 'running' })}
        />
      </Tabs.Content>
      <Tabs.Content value="timeline" className="min-h-0 grow outline-none">
        <TimelineView picture={picture} selected={selected} onSelect={onSelect} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

const TAB =
  'rounded px-2.5 py-1 text-sm text-muted-foreground hover:text-foreground data-[state=active]:bg-muted data-[state=active]:font-medium data-[state=active]:text-foreground';

function cardOf({ nodes }: RunPicture, id: string) {
  const { status = 'pending', attempts = [] } = nodes.get(id) ?? {};
  const last = attempts.at(-1);
  return { status, startedAt: last?.startedAt, finishedAt: last?.finishedAt };
}
