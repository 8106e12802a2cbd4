import { useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { type FormEvent, useEffect, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { isAtWork } from '../agents/chat.js';
import { PlaygroundSession } from '../agents/chat-session.js';
import type { A2aPart } from '../api/task.js';
import { Button } from '../components/button.js';
import { Disclosure } from '../components/disclosure.js';
import { Field, TextArea } from '../components/field.js';
import { Loading } from '../components/loading.js';
import { PartsView } from '../components/parts-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { getRunNode, listRunsOf } from '../runs/run-api.js';
import type { GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';
import { savedStateOf } from './saved-node.js';
import { partsOfText, textOfParts } from './trial-parts.js';

/** Types of nodes that work on one Message by themselves. Other types need a run, such as `human` and `workflow`. */
const ALONE: ReadonlySet<string> = new Set(['agent', 'tool', 'script', 'external']);

interface NodeTrialProps {
  workflow: string;
  node: GraphNode;
  /** Workflow as it was last saved. */
  saved: Draft;
}

/**
 * Shows a section that runs one node alone, as it was last saved. The form begins with the node's input in the newest
 * run of the workflow, which the person may change. A node that is not saved cannot run. Shows nothing for types that
 * need a run.
 */
export function NodeTrial(props: NodeTrialProps) {
  const { node, saved } = props;
  if (!ALONE.has(node.type)) return null;
  return (
    <Disclosure title="Run this node">
      {savedStateOf(node, saved) === 'missing' ? (
        <p role="note" className="text-xs text-muted-foreground">
          This node is not saved. Save the workflow to run it.
        </p>
      ) : (
        <TrialInput {...props} />
      )}
    </Disclosure>
  );
}

function TrialInput({ workflow, node, saved }: NodeTrialProps) {
  const last = useQuery({
    queryKey: ['last-input', workflow, node.id],
    queryFn: ({ signal }) => lastInput(workflow, node.id, signal),
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });
  if (last.isPending) return <Loading />;
  return <TrialForm workflow={workflow} node={node} saved={saved} last={last.data} />;
}

/** Input of a node in the newest run of its workflow. */
interface LastInput {
  runId: string;
  parts: readonly A2aPart[];
}

/** Returns the input of a node in the newest run of its workflow; `null` if there is none. */
async function lastInput(workflow: string, node: string, signal: AbortSignal): Promise<LastInput | null> {
  const [run] = await listRunsOf(workflow, signal);
  if (!run) return null;
  const { input = [] } = await getRunNode(run.runId, node, signal);
  return input.length > 0 ? { runId: run.runId, parts: input } : null;
}

function TrialForm({ workflow, node, saved, last }: NodeTrialProps & { last: LastInput | null | undefined }) {
  const [session] = useState(
    () => new PlaygroundSession({ kind: 'served', path: `workflows/${workflow}/nodes/${node.id}` }),
  );
  const [text, setText] = useState(() => textOfParts(last?.parts ?? []));
  const { chat, busy, error } = useSyncExternalStore(session.subscribe, session.getView);
  useEffect(() => () => session.stopReading(), [session]);
  const runNode = (event: FormEvent): void => {
    event.preventDefault();
    session.startNewContext();
    void session.sendParts(partsOfText(text));
  };
  const answers = chat.entries.filter(({ from }) => from === 'agent');
  return (
    <form className="space-y-3" onSubmit={runNode} data-trial={node.id}>
      <Field
        label="Input"
        hint={
          last
            ? 'Input of the last run. Your changes count for this trial alone.'
            : 'The node has no input of a last run. A JSON list of Parts is sent as Parts, other text as text.'
        }
      >
        {(id) => (
          <TextArea
            id={id}
            rows={5}
            className="font-mono"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      {savedStateOf(node, saved) === 'changed' && (
        <p role="note" className="text-xs text-warning">
          The node runs as it was saved. Save your changes to try them.
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" disabled={busy}>
          <Play className="size-4" aria-hidden /> {busy ? 'Running …' : 'Run this node'}
        </Button>
        {busy && isAtWork(chat) && <Button onClick={() => void session.cancelRunningTask()}>Cancel</Button>}
        {chat.state !== undefined && <StatusBadge status={chat.state} />}
        {chat.taskId !== undefined && (
          <Link href={`~/tasks/${encodeURIComponent(chat.taskId)}`} className="text-sm underline">
            Task
          </Link>
        )}
      </div>
      <div role="status" className="space-y-2">
        {answers.map(({ key, parts }) => (
          <div key={key} data-answer={key} className="min-w-0 rounded-md border bg-muted/50 p-2">
            <PartsView parts={parts} />
          </div>
        ))}
      </div>
      {error !== undefined && (
        <p role="alert" className="text-sm break-words text-destructive">
          {error}
        </p>
      )}
    </form>
  );
}
