import { CornerDownRight } from 'lucide-react';
import { Link } from 'wouter';
import { useResource } from '../api/use-resource.js';
import { buttonClass } from '../components/button.js';
import { getRun } from './run-api.js';

const WORKFLOW_AGENT = /\/a2a\/workflows\/[\w-]+\/?$/;

/** Where a node's agent is a workflow of this service, its Task is a run: leads to it. */
export function ChildRunLink({ url, taskId }: { url: string; taskId: string }) {
  return WORKFLOW_AGENT.test(url) ? <FoundRun taskId={taskId} /> : null;
}

function FoundRun({ taskId }: { taskId: string }) {
  const { data } = useResource(taskId, (signal) => getRun(taskId, signal));
  if (!data) return null;
  return (
    <Link href={`~/runs/${encodeURIComponent(taskId)}`} className={buttonClass()}>
      <CornerDownRight className="size-4" aria-hidden /> Follow its run of {data.workflow}
    </Link>
  );
}
