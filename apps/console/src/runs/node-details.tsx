import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useResource } from '../api/use-resource.js';
import { Button } from '../components/button.js';
import { JsonView } from '../components/json-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Elapsed } from '../components/time.js';
import { nodeLook } from '../nodes/node-looks.js';
import { AnswerForm } from './answer-form.js';
import { nodeCause } from './causes.js';
import { ChildRunLink } from './child-run-link.js';
import { getRunNode, type NodeDetail } from './run-api.js';
import { partsText } from './run-event.js';
import type { NodePicture, RunPicture } from './run-picture.js';
import { Cause } from './run-overview.js';

interface NodeDetailsProps {
  run: { runId: string; workflow: string };
  node: NodePicture;
  picture: RunPicture;
  onClose: () => void;
}

/** One node of a run: what it was sent, what it answered, when, and why it is not done. */
export function NodeDetails({ run, node, picture, onClose }: NodeDetailsProps) {
  const { Icon, label, accent } = nodeLook(node.type);
  const key = [run.runId, node.id, node.status, node.attempts.length, node.taskId].join(' ');
  const resource = useResource(key, (signal) => getRunNode(run.runId, node.id, signal));
  const cause = nodeCause(node, picture);
  return (
    <div className="space-y-4" data-details={node.id}>
      <header className="flex items-center gap-2.5">
        <span className={`flex size-8 shrink-0 items-center justify-center rounded-md ${accent}`}>
          <Icon className="size-4.5" aria-hidden />
        </span>
        <div className="min-w-0 grow">
          <h2 className="truncate leading-tight font-semibold">{node.id}</h2>
          <p className="text-xs text-muted-foreground">{label}</p>
        </div>
        <StatusBadge status={node.status} />
        <Button kind="quiet" aria-label="Close details" className="px-1.5!" onClick={onClose}>
          <X className="size-4" aria-hidden />
        </Button>
      </header>
      {cause !== undefined && <Cause status={node.status}>{cause}</Cause>}
      {node.status === 'input-required' && <AnswerForm run={run} node={node} />}
      <Attempts node={node} />
      <Exchange detail={resource.data} />
      <Whereabouts node={node} detail={resource.data} />
    </div>
  );
}

function Attempts({ node: { attempts } }: { node: NodePicture }) {
  if (attempts.length === 0) return null;
  return (
    <Section title={attempts.length === 1 ? 'Attempt' : `${attempts.length} attempts`}>
      <ol className="space-y-1 text-sm">
        {attempts.map(({ attempt, status, startedAt, finishedAt }) => (
          <li key={attempt} className="flex items-center gap-2">
            <StatusBadge status={status} />
            {new Date(startedAt).toLocaleTimeString()}
            <span className="ml-auto text-muted-foreground">
              <Elapsed from={startedAt} to={finishedAt} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Exchange({ detail }: { detail: NodeDetail | undefined }) {
  if (!detail) return null;
  const { input, artifacts } = detail;
  return (
    <>
      {input && (
        <Section title="Input">
          <Said>{partsText(input)}</Said>
        </Section>
      )}
      {artifacts.length > 0 && (
        <Section title="Output">
          <Said>{artifacts.map(({ parts }) => partsText(parts)).join('\n')}</Said>
          <details>
            <summary className="text-sm">
              {artifacts.length === 1 ? 'Artifact' : `${artifacts.length} Artifacts`}
            </summary>
            <JsonView value={artifacts} label="Artifacts" />
          </details>
        </Section>
      )}
    </>
  );
}

function Whereabouts({ node, detail }: { node: NodePicture; detail: NodeDetail | undefined }) {
  const url = node.url ?? detail?.agentUrl;
  const taskId = node.taskId ?? detail?.taskId;
  return (
    <Section title="Agent">
      {url !== undefined && <p className="text-sm break-all">{url}</p>}
      {taskId !== undefined && (
        <p className="text-sm break-all">
          Task{' '}
          <Link href={`~/tasks/${encodeURIComponent(taskId)}`} className="underline">
            {taskId}
          </Link>
        </p>
      )}
      {url !== undefined && taskId !== undefined && <ChildRunLink url={url} taskId={taskId} />}
    </Section>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="space-y-1">
      <h3 className="text-sm font-medium">{title}</h3>
      {children}
    </section>
  );
}

function Said({ children }: { children: string }) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="Text"
      className="max-h-60 overflow-auto rounded-md border bg-muted/50 p-2.5 text-sm break-words whitespace-pre-wrap"
    >
      {children}
    </div>
  );
}
