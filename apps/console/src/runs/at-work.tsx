import { LiveText } from '../components/live-text.js';
import { doingNow, transcriptOf } from '../transcript/transcript.js';
import { getInstanceName } from './causes.js';
import type { NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';

/** Maximum number of nodes shown at once; the graph shows every node. */
const MOST = 4;

/** Shows the progress of the nodes that run now. The view updates live. */
export function AtWork({ picture, onSelect }: { picture: RunPicture; onSelect: (name: string) => void }) {
  if (picture.finishedAt !== undefined) return null;
  const busy = [...picture.nodes.values()].filter(
    ({ status, progress, work }) => status === 'running' && (progress ?? work) !== undefined,
  );
  if (busy.length === 0) return null;
  return (
    <section aria-label="At work" className="space-y-2">
      <h3 className="text-sm font-medium">At work</h3>
      {busy.slice(0, MOST).map((node) => (
        <Node key={getInstanceName(node)} node={node} onSelect={onSelect} />
      ))}
    </section>
  );
}

function Node({ node, onSelect }: { node: NodePicture; onSelect: (name: string) => void }) {
  const { progress, work } = node;
  const name = getInstanceName(node);
  const doing = progress?.text ?? (work && doingNow(transcriptOf(work)));
  return (
    <div className="space-y-1">
      <p className="flex flex-wrap gap-x-2 text-sm">
        <button type="button" className="min-w-0 text-left wrap-anywhere underline" onClick={() => onSelect(name)}>
          {name}
        </button>
        {doing !== undefined && <span className="min-w-0 break-words text-muted-foreground">{doing}</span>}
      </p>
      {progress?.made !== undefined && <LiveText text={progress.made} label={`Artifact of ${name} so far`} />}
    </div>
  );
}
