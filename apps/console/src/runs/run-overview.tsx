import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ECHO_MODEL } from '../api/models.js';
import { EchoNote } from '../components/echo-note.js';
import { JsonView } from '../components/json-view.js';
import { Loading } from '../components/loading.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import { AnswerForm } from './answer-form.js';
import { ArtifactsView } from './artifacts-view.js';
import { AtWork } from './at-work.js';
import { getInstanceName, runCause, waitingNodes } from './causes.js';
import { questionOf } from './questions.js';
import { type CanceledTask, compareHref, getRun, listForks, type Run } from './run-api.js';
import { RerunDifference } from './rerun-difference.js';
import { RunFailure } from './run-failure.js';
import { type RunPicture, UNREAD } from './run-picture.js';
import { RunUsage } from './run-usage.js';

interface RunOverviewProps {
  run: { runId: string; workflow: string };
  picture: RunPicture;
  onSelect: (name: string) => void;
}

/** Maximum number of questions shown at once; the inbox shows every question. */
const MOST_QUESTIONS = 10;

/** Shows the run as a whole: its result or the reason why it has none, its questions, and its progress. */
export function RunOverview({ run, picture, onSelect }: RunOverviewProps) {
  const { nodes } = picture;
  const isUnread = picture.status === UNREAD;
  const resource = useQuery({
    queryKey: ['run', run.runId, ...(isUnread ? [] : [picture.status])],
    queryFn: ({ signal }) => getRun(run.runId, signal),
    placeholderData: keepPreviousData,
  });
  const status = isUnread ? (resource.data?.status ?? UNREAD) : picture.status;
  const cause = isUnread ? resource.data?.error?.message : runCause(picture);
  const waiting = waitingNodes(picture);
  const counts = Map.groupBy(nodes.values(), (node) => node.status);
  const { data } = resource;
  return (
    <div className="space-y-4">
      <h2 className="font-semibold wrap-anywhere">{run.workflow}</h2>
      {cause !== undefined && <Cause status={status}>{cause}</Cause>}
      {cause !== undefined && status === 'failed' && (
        <RunFailure runId={run.runId} picture={picture} cause={cause} onSelect={onSelect} />
      )}
      {isAnsweredByEcho(picture) && <EchoNote />}
      {data?.result && <ArtifactsView title="Result" artifacts={data.result} file={run.workflow} tall />}
      {status === 'completed' && data?.status === 'completed' && !data.result && (
        <p className="text-sm text-muted-foreground">The run completed without a result.</p>
      )}
      {waiting.slice(0, MOST_QUESTIONS).map((node) => (
        <AnswerForm
          key={getInstanceName(node)}
          question={questionOf(run.runId, node)}
          isAsked={waiting.length === 1 && !node.asks?.form}
        />
      ))}
      {waiting.length > MOST_QUESTIONS && (
        <Link href="~/inbox" className="text-sm underline">
          {waiting.length - MOST_QUESTIONS} more in the inbox
        </Link>
      )}
      <AtWork picture={picture} onSelect={onSelect} />
      {isUnread && !data && <Loading />}
      <ul className="text-sm">
        {(isUnread ? [] : [...counts]).map(([word, of]) => (
          <li key={word}>
            {of.length} {lookOf(word).label.toLowerCase()}
          </li>
        ))}
      </ul>
      {data?.children && data.children.length > 0 && <Children items={data.children} onSelect={onSelect} />}
      {data?.usage && <RunUsage usage={data.usage} budget={data.budget} />}
      {data && <Related run={data} ended={data.status !== 'running' && data.status !== 'input-required'} />}
      {data && (
        <section className="space-y-1">
          <h3 className="text-sm font-medium">Inputs</h3>
          <JsonView value={data.inputs} label="Inputs" />
        </section>
      )}
      <p className="text-sm text-muted-foreground">Select a node to see what it was sent and what it answered.</p>
    </div>
  );
}

/** True if the built-in model answered a node that names no model. */
function isAnsweredByEcho({ graph, nodes }: RunPicture): boolean {
  return graph.nodes.some(({ id, type, config }) => {
    const work = type === 'agent' && config['model'] === undefined ? nodes.get(id)?.work : undefined;
    return work?.some(({ payload }) => payload['model'] === ECHO_MODEL) ?? false;
  });
}

export function Cause({ status, children }: { status: string; children: string }) {
  const tone = status === 'failed' ? 'border-destructive/50 bg-destructive/5' : 'border-border bg-muted/60';
  return (
    <p data-cause className={`rounded-md border p-2.5 text-sm break-words ${tone}`}>
      {children}
    </p>
  );
}

/** Shows links to the original run of this rerun, and to the reruns of this run. */
function Related({ run: { runId, origin, edit }, ended }: { run: Run; ended: boolean }) {
  const forks = useQuery({
    queryKey: ['forks', runId],
    queryFn: ({ signal }) => listForks(runId, signal),
    enabled: ended,
  });
  const list = forks.data ?? [];
  if (origin === undefined && list.length === 0 && !ended) return null;
  return (
    <section aria-label="Related runs" className="space-y-1 text-sm">
      <h3 className="font-medium">Related runs</h3>
      {origin !== undefined && (
        <p>
          Rerun of{' '}
          <Link href={`~/runs/${encodeURIComponent(origin)}`} className="underline">
            an earlier run
          </Link>
          {ended && <RerunDifference origin={origin} runId={runId} />}
        </p>
      )}
      {edit !== undefined && (
        <p>
          The prompt of{' '}
          <Link
            href={`~/runs/${encodeURIComponent(runId)}/nodes/${encodeURIComponent(edit.node)}`}
            className="underline"
          >
            {edit.node}
          </Link>{' '}
          was edited.
        </p>
      )}
      {ended && (
        <p>
          <Link href={compareHref('', runId)} className="underline">
            Compare with another run
          </Link>
        </p>
      )}
      {list.length > 0 && (
        <ul aria-label="Reruns of this run" className="space-y-1">
          {list.map((fork) => (
            <li key={fork.runId} className="flex items-center gap-2">
              <Link href={`~/runs/${encodeURIComponent(fork.runId)}`} className="grow underline">
                Run again <Time at={fork.createdAt} />
                {fork.editedNode !== undefined && `, prompt of ${fork.editedNode} edited`}
              </Link>
              <Link href={compareHref(runId, fork.runId)} className="underline">
                Compare
              </Link>
              <StatusBadge status={fork.status} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Children({ items, onSelect }: { items: readonly CanceledTask[]; onSelect: (name: string) => void }) {
  return (
    <section className="space-y-1">
      <h3 className="text-sm font-medium">Outcome of its Tasks</h3>
      <ul className="space-y-1 text-sm">
        {items.map(({ node, instance = node, outcome }) => (
          <li key={instance} className="flex justify-between gap-2">
            <button type="button" className="truncate underline" onClick={() => onSelect(instance)}>
              {instance}
            </button>
            <span>{outcome}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
