import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { compareHref, diffRuns } from './run-api.js';
import { differenceText } from './run-difference.js';

/** Shows what differs between a rerun and its original run, in a sentence with a link to both side by side. */
export function RerunDifference({ origin, runId }: { origin: string; runId: string }) {
  const { data } = useQuery({
    queryKey: ['run-diff', origin, runId],
    queryFn: ({ signal }) => diffRuns(origin, runId, signal),
  });
  if (!data) return null;
  return (
    <span data-difference>
      : {differenceText(data)}{' '}
      <Link href={compareHref(origin, runId)} className="underline">
        Compare
      </Link>
    </span>
  );
}
