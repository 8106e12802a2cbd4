import { Link } from 'wouter';
import { CopyButton } from '../components/json-view.js';
import { findFailedInstance } from './causes.js';
import { RerunFrom } from './rerun-from.js';
import type { RunPicture } from './run-picture.js';

interface RunFailureProps {
  runId: string;
  picture: RunPicture;
  /** Reason why the run failed. */
  cause: string;
  onSelect: (name: string) => void;
}

/** Shows actions for a failed run: open the node or the edge that failed it, rerun from that node, copy the reason. */
export function RunFailure({ runId, picture, cause, onSelect }: RunFailureProps) {
  const failed = findFailedInstance(picture);
  const [edge] = picture.edgeErrors.keys();
  return (
    <div role="group" aria-label="Failure" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      {failed !== undefined && (
        <button type="button" className="wrap-anywhere underline" onClick={() => onSelect(failed)}>
          Open {failed}
        </button>
      )}
      {edge !== undefined && (
        <Link href={`/${encodeURIComponent(runId)}?edge=${edge}`} className="underline">
          Open the edge
        </Link>
      )}
      <CopyButton text={cause} label="Copy the error" />
      {failed !== undefined && picture.finishedAt !== undefined && <RerunFrom runId={runId} name={failed} />}
    </div>
  );
}
