import { useResource } from '../api/use-resource.js';
import { JsonView } from '../components/json-view.js';
import { lookOf } from '../components/status-badge.js';
import { AnswerForm } from './answer-form.js';
import { runCause } from './causes.js';
import { type CanceledChild, getRun } from './run-api.js';
import type { RunPicture } from './run-picture.js';

interface RunOverviewProps {
  run: { runId: string; workflow: string };
  picture: RunPicture;
  onSelect: (id: string) => void;
}

/** The run as a whole: why it is not done, how far it is, and what became of its children when it was canceled. */
export function RunOverview({ run, picture, onSelect }: RunOverviewProps) {
  const { status, nodes } = picture;
  const resource = useResource(`${run.runId} ${status}`, (signal) => getRun(run.runId, signal));
  const cause = runCause(picture);
  const waiting = [...nodes.values()].filter((node) => node.status === 'input-required');
  const counts = Map.groupBy(nodes.values(), (node) => node.status);
  return (
    <div className="space-y-4">
      <h2 className="font-semibold">{run.workflow}</h2>
      {cause !== undefined && <Cause status={status}>{cause}</Cause>}
      {waiting[0] && <AnswerForm run={run} node={waiting[0]} />}
      <ul className="text-sm">
        {[...counts].map(([word, of]) => (
          <li key={word}>
            {of.length} {lookOf(word).label.toLowerCase()}
          </li>
        ))}
      </ul>
      {resource.data?.children && resource.data.children.length > 0 && (
        <Children items={resource.data.children} onSelect={onSelect} />
      )}
      {resource.data && (
        <section className="space-y-1">
          <h3 className="text-sm font-medium">Inputs</h3>
          <JsonView value={resource.data.inputs} label="Inputs" />
        </section>
      )}
      <p className="text-sm text-muted-foreground">Select a node to see what it was sent and what it answered.</p>
    </div>
  );
}

export function Cause({ status, children }: { status: string; children: string }) {
  const tone = status === 'failed' ? 'border-destructive/50 bg-destructive/5' : 'border-border bg-muted/60';
  return (
    <p data-cause className={`rounded-md border p-2.5 text-sm break-words ${tone}`}>
      {children}
    </p>
  );
}

function Children({ items, onSelect }: { items: readonly CanceledChild[]; onSelect: (id: string) => void }) {
  return (
    <section className="space-y-1">
      <h3 className="text-sm font-medium">What became of its Tasks</h3>
      <ul className="space-y-1 text-sm">
        {items.map(({ node, outcome }) => (
          <li key={node} className="flex justify-between gap-2">
            <button type="button" className="truncate underline" onClick={() => onSelect(node)}>
              {node}
            </button>
            <span>{outcome}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
