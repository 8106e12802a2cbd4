import { useQuery } from '@tanstack/react-query';
import { CornerDownRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button, buttonClass } from '../components/button.js';
import { ErrorState } from '../components/error-state.js';
import { Loading } from '../components/loading.js';
import { ResourceView } from '../components/resource-view.js';
import { getRun, getRunWorkflow, type RunWorkflow } from './run-api.js';
import { StatusBadge } from '../components/status-badge.js';
import { runCause } from './causes.js';
import { UNREAD } from './run-picture.js';
import { useRunLog } from './use-run-log.js';

const WORKFLOW_AGENT = /\/a2a\/workflows\/[\w-]+\/?$/;

interface ChildRunProps {
  type: string;
  url: string;
  taskId: string;
}

/** Shows a link to the child run that a node started, and the status of that run's nodes on demand. */
export function ChildRun({ type, url, taskId }: ChildRunProps) {
  return type === 'workflow' || WORKFLOW_AGENT.test(url) ? <FoundRun runId={taskId} /> : null;
}

function FoundRun({ runId }: { runId: string }) {
  const { data } = useQuery({ queryKey: ['run', runId], queryFn: ({ signal }) => getRun(runId, signal) });
  const [open, setOpen] = useState(false);
  if (!data) return null;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap gap-2">
        <Link href={`~/runs/${encodeURIComponent(runId)}`} className={buttonClass()}>
          <CornerDownRight className="size-4" aria-hidden /> Follow its run of {data.workflow}
        </Link>
        <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide it here' : 'Show it here'}
        </Button>
      </div>
      {open && <Inside runId={runId} />}
    </div>
  );
}

function Inside({ runId }: { runId: string }) {
  const workflow = useQuery({
    queryKey: ['run-workflow', runId],
    queryFn: ({ signal }) => getRunWorkflow(runId, signal),
  });
  return (
    <ResourceView resource={workflow}>{(definition) => <Nodes runId={runId} workflow={definition} />}</ResourceView>
  );
}

/** Shows the status of each node of a child run, live. */
function Nodes({ runId, workflow }: { runId: string; workflow: RunWorkflow }) {
  const { picture, error } = useRunLog(runId, workflow);
  if (error !== undefined) return <ErrorState error={error} />;
  if (picture.status === UNREAD) return <Loading />;
  const cause = runCause(picture);
  return (
    <section aria-label={`Run of ${workflow.name}`} className="space-y-1 rounded-md border p-2 text-sm">
      <p className="flex items-center gap-2">
        <span className="grow truncate font-medium">{workflow.name}</span>
        <StatusBadge status={picture.status} />
      </p>
      {cause !== undefined && <p className="break-words text-muted-foreground">{cause}</p>}
      <ul className="space-y-1">
        {[...picture.nodes.values()].map((node) => (
          <li key={node.id} className="flex items-center gap-2">
            <Link
              href={`~/runs/${encodeURIComponent(runId)}/nodes/${encodeURIComponent(node.id)}`}
              className="grow truncate underline"
            >
              {node.id}
            </Link>
            <StatusBadge status={node.status} />
          </li>
        ))}
      </ul>
    </section>
  );
}
