import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { PageHeader } from '../components/page-header.js';
import { shortId } from '../components/page-title.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { Elapsed } from '../components/time.js';
import { TraceId } from '../components/trace-id.js';
import { useWideWindow } from '../components/use-wide-window.js';
import { historyHref } from '../workflows/revisions/revision-api.js';
import { CancelRun } from './cancel-run.js';
import { runCause } from './causes.js';
import { RerunMenu } from './rerun-menu.js';
import { getRun } from './run-api.js';
import type { LogConnection } from './run-log.js';
import { reasonOf } from './run-columns.js';
import { type RunPicture, UNREAD } from './run-picture.js';

interface RunHeaderProps {
  run: { runId: string; workflow: string };
  picture: RunPicture;
  connection: LogConnection;
  /** Name of the selected node or instance. */
  node: string | undefined;
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

/** Milliseconds between reads of a run that waits for a slot. */
const SLOT_MS = 5_000;

/** Shows the status of a run, and the actions for the run as a whole. */
export function RunHeader({ run, picture, connection, node }: RunHeaderProps) {
  const { runId, workflow } = run;
  const { data } = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => getRun(runId, signal),
    // The place of a run that waits for a slot changes without an event of the run.
    refetchInterval: ({ state }) => (state.data?.waitsFor?.slot ? SLOT_MS : false),
  });
  const { startedAt, finishedAt } = picture;
  const isUnread = picture.status === UNREAD;
  const status = isUnread ? data?.status : picture.status;
  const canBeCanceled = isUnread ? status === 'running' : finishedAt === undefined;
  const hasEnded = isUnread ? status !== undefined && ENDED.has(status) : finishedAt !== undefined;
  const isWide = useWideWindow();
  const waits = data?.waitsFor?.slot && !hasEnded ? reasonOf({ waitsFor: data.waitsFor }) : undefined;
  const cause = isWide ? undefined : isUnread ? data?.error?.message : runCause(picture);
  const why = waits ?? cause;
  return (
    <>
      <PageHeader
        title={`Run of ${workflow}`}
        tab={[status && lookOf(status).label, node, `${workflow} ${shortId(runId)}`]}
        up={{ label: 'Runs', href: '~/runs' }}
        aside={
          <span className="flex items-center gap-2 text-sm whitespace-nowrap text-muted-foreground">
            {status !== undefined && <StatusBadge status={status} />}
            {startedAt !== undefined && <Elapsed from={startedAt} to={finishedAt} />}
            {picture.ending !== undefined && finishedAt === undefined && <span>Ending …</span>}
            {data?.revision !== undefined && (
              <Link href={historyHref(workflow, data.revision)} className="underline">
                Revision {data.revision}
              </Link>
            )}
            {isWide && data?.trace_id !== undefined && <TraceId id={data.trace_id} />}
            {connection === 'lost' && (
              <span role="status" className="flex items-center gap-1 text-warning">
                <RefreshCw className="size-3.5" aria-hidden /> Reconnecting …
              </span>
            )}
          </span>
        }
        actions={
          <>
            <Link href={`~/workflows/edit/${encodeURIComponent(workflow)}`} className={buttonClass()}>
              Open workflow
            </Link>
            {canBeCanceled && <CancelRun runId={runId} />}
            {hasEnded && <RerunMenu run={run} graph={picture.graph} hasFailed={status === 'failed'} />}
          </>
        }
      />
      {why !== undefined && (
        <p data-why title={why} className="line-clamp-2 shrink-0 border-b bg-card px-4 pb-2 text-sm break-words">
          {why}
        </p>
      )}
    </>
  );
}
