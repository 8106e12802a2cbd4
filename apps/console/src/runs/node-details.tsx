import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { callAgent } from '../api/json-rpc.js';
import { partsText } from '../api/parts.js';
import { Button } from '../components/button.js';
import { LiveText } from '../components/live-text.js';
import { StatusBadge } from '../components/status-badge.js';
import { Coming, Elapsed } from '../components/time.js';
import { ViewBoundary } from '../components/view-boundary.js';
import { nodeLook } from '../nodes/node-looks.js';
import { AnswerForm } from './answer-form.js';
import { ArtifactsView } from './artifacts-view.js';
import { getInstanceName, nodeCause } from './causes.js';
import { ChildRun } from './child-run.js';
import { EditPrompt } from './edit-prompt.js';
import { InstanceList } from './instance-list.js';
import { parseInstanceName } from './instance-name.js';
import { IterationStepper } from './iteration-stepper.js';
import type { NodePicture } from './node-picture.js';
import { NodeTranscript } from './node-transcript.js';
import { questionOf } from './questions.js';
import { RerunFrom } from './rerun-from.js';
import { getRunNode, type InstanceDetail } from './run-api.js';
import { Cause } from './run-overview.js';
import { type RunPicture, UNREAD } from './run-picture.js';

interface NodeDetailsProps {
  run: { runId: string; workflow: string };
  node: NodePicture;
  picture: RunPicture;
  /** Selects another node or instance, by name; `undefined` selects none. */
  onSelect: (name: string | undefined) => void;
}

/**
 * Shows a node of a run, or one of its instances: its input, output and attempts, and the reason if it is not
 * completed.
 */
export function NodeDetails({ run, node, picture, onSelect }: NodeDetailsProps) {
  const name = getInstanceName(node);
  const key = ['run-node', run.runId, name, node.status, node.attempts.length, node.taskId];
  const resource = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => getRunNode(run.runId, name, signal),
    enabled: node.status !== UNREAD,
  });
  const cause = nodeCause(node, picture);
  const canEdit = picture.finishedAt !== undefined && node.type === 'agent';
  const promptAction = canEdit
    ? (prompt: string) => <EditPrompt runId={run.runId} name={name} prompt={prompt} />
    : undefined;
  return (
    <div className="space-y-4" data-details={name}>
      <Head node={node} onClose={() => onSelect(undefined)} />
      <Around node={node} picture={picture} onSelect={onSelect} />
      {cause !== undefined && <Cause status={node.status}>{cause}</Cause>}
      {node.status === 'input-required' && (
        <AnswerForm key={name} question={questionOf(run.runId, node)} isAsked={!node.asks?.form} />
      )}
      {node.until !== undefined && (
        <p className="text-sm">
          Resumes at <Coming at={node.until} />
        </p>
      )}
      {node.origin !== undefined && <Origin node={node} origin={node.origin} />}
      {node.list && <InstanceList key={name} runId={run.runId} node={node} list={node.list} onSelect={onSelect} />}
      <Progress node={node} />
      {resource.data && <ArtifactsView title="Output" artifacts={resource.data.artifacts} file={name} />}
      <ViewBoundary key={`${name} ${node.taskId}`}>
        <NodeTranscript node={node} promptAction={promptAction} />
      </ViewBoundary>
      <Input detail={resource.data} />
      <Attempts node={node} />
      <Whereabouts node={node} detail={resource.data} />
      {picture.finishedAt !== undefined && <RerunFrom runId={run.runId} name={name} />}
    </div>
  );
}

function Head({ node, onClose }: { node: NodePicture; onClose: () => void }) {
  const { Icon, label, accent } = nodeLook(node.type);
  return (
    <header className="flex items-center gap-2.5">
      <span className={`flex size-8 shrink-0 items-center justify-center rounded-md ${accent}`}>
        <Icon className="size-4.5" aria-hidden />
      </span>
      <div className="min-w-0 grow">
        <h2 className="truncate leading-tight font-semibold">{getInstanceName(node)}</h2>
        <p className="text-xs text-muted-foreground">{label}</p>
      </div>
      {node.status !== UNREAD && <StatusBadge status={node.status} />}
      <Button kind="quiet" aria-label="Close details" className="px-1.5!" onClick={onClose}>
        <X className="size-4" aria-hidden />
      </Button>
    </header>
  );
}

/** Shows links to the node's other instances: its other iterations, and for an entry of a list all entries. */
function Around({ node, picture, onSelect }: Pick<NodeDetailsProps, 'node' | 'picture' | 'onSelect'>) {
  const { path, index } = parseInstanceName(getInstanceName(node));
  const whole = getInstanceName(node).replace(/\[\d+\]$/, '');
  const item = index === undefined ? undefined : itemOf(picture, whole, index);
  return (
    <>
      {path.length > 0 && <IterationStepper node={node} picture={picture} onSelect={onSelect} />}
      {index !== undefined && (
        <Section title={`Entry ${index + 1}`}>
          {item !== undefined && <Said>{typeof item === 'string' ? item : JSON.stringify(item, undefined, 2)}</Said>}
          <button type="button" className="text-sm underline" onClick={() => onSelect(whole)}>
            All entries of {whole}
          </button>
        </Section>
      )}
    </>
  );
}

function itemOf({ nodes, instances }: RunPicture, whole: string, index: number): unknown {
  return (instances.get(whole) ?? nodes.get(whole))?.list?.items[index];
}

function Origin({ node, origin }: { node: NodePicture; origin: string }) {
  return (
    <p className="text-sm">
      Reused from{' '}
      <Link
        href={`~/runs/${encodeURIComponent(origin)}/nodes/${encodeURIComponent(getInstanceName(node))}`}
        className="underline"
      >
        an earlier run
      </Link>
      , and not run again.
    </p>
  );
}

/** Shows the agent's progress while it works; its Artifacts are shown as output once it has completed. */
function Progress({ node: { progress, status, work } }: { node: NodePicture }) {
  // A transcript already shows the progress.
  if (!progress || status !== 'running' || work) return null;
  return (
    <Section title="So far">
      {progress.text !== undefined && <p className="text-sm break-words">{progress.text}</p>}
      {progress.made !== undefined && <LiveText text={progress.made} label="Artifact so far" />}
    </Section>
  );
}

function Attempts({ node: { attempts, retryAt } }: { node: NodePicture }) {
  if (attempts.length === 0) return null;
  return (
    <Section title={attempts.length === 1 ? 'Attempt' : `${attempts.length} attempts`}>
      <ol className="space-y-1 text-sm">
        {attempts.map(({ attempt, status, startedAt, finishedAt, error }) => (
          <li key={attempt}>
            <span className="flex items-center gap-2">
              <StatusBadge status={status} />
              {new Date(startedAt).toLocaleTimeString()}
              <span className="ml-auto text-muted-foreground">
                <Elapsed from={startedAt} to={finishedAt} />
              </span>
            </span>
            {error !== undefined && <span className="block text-xs break-words text-muted-foreground">{error}</span>}
          </li>
        ))}
      </ol>
      {retryAt !== undefined && (
        <p className="text-sm text-muted-foreground">
          The next one at <Coming at={retryAt} />
        </p>
      )}
    </Section>
  );
}

function Input({ detail }: { detail: InstanceDetail | undefined }) {
  if (!detail?.input) return null;
  return (
    <Section title="Input">
      <Said>{partsText(detail.input)}</Said>
    </Section>
  );
}

function Whereabouts({ node, detail }: { node: NodePicture; detail: InstanceDetail | undefined }) {
  const url = node.url ?? detail?.agentUrl;
  const taskId = node.taskId ?? detail?.taskId;
  if ((url === undefined || url === '') && taskId === undefined) return null;
  return (
    <Section title="Agent">
      {url !== undefined && <p className="text-sm break-all">{url}</p>}
      {taskId !== undefined && (
        <p className="text-sm break-all">
          Task <TaskId id={taskId} isForeign={node.type === 'external'} />
        </p>
      )}
      {url !== undefined && taskId !== undefined && (
        <ChildRun key={taskId} type={node.type} url={url} taskId={taskId} />
      )}
    </Section>
  );
}

/** Shows a Task id; it is a link if this service has the Task. */
function TaskId({ id, isForeign }: { id: string; isForeign: boolean }) {
  const { data } = useQuery({
    queryKey: ['has-task', id],
    queryFn: ({ signal }) => hasTask(id, signal),
    enabled: isForeign,
  });
  if (isForeign && data !== true) return <span>{id}</span>;
  return (
    <Link href={`~/tasks/${encodeURIComponent(id)}`} className="underline">
      {id}
    </Link>
  );
}

/**
 * True if this service stores a Task; false if it does not, or the request fails. Asked for the Task of an `external`
 * node: the node may call an agent of this service by its URL, and the Task is then stored here.
 */
async function hasTask(id: string, signal: AbortSignal): Promise<boolean> {
  return callAgent('/a2a', 'GetTask', { id, historyLength: 0 }, signal).then(
    () => true,
    () => false,
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
      className="max-h-60 overflow-auto max-md:max-h-none rounded-md border bg-muted/50 p-2.5 text-sm break-words whitespace-pre-wrap"
    >
      {children}
    </div>
  );
}
