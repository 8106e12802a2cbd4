import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Time } from '../../components/time.js';
import { compareHref } from '../../runs/run-api.js';
import { getFailures, historyHref } from './revision-api.js';

/** Shows since which revision a workflow fails; nothing if its last run completed. */
export function FailureNote({ name }: { name: string }) {
  const { data } = useQuery({
    queryKey: ['failures', name],
    queryFn: ({ signal }) => getFailures(name, signal),
  });
  if (!data?.first) return null;
  const { failures, first, completed, more } = data;
  const count = `${more ? 'at least ' : ''}${failures} ${failures === 1 ? 'run' : 'runs'}`;
  return (
    <p
      role="status"
      data-failing
      className="border-b border-destructive/40 bg-destructive/5 px-4 py-2 text-sm [&_a]:underline"
    >
      Failing since{' '}
      {first.revision === undefined ? (
        <Time at={first.endedAt} />
      ) : (
        <Link href={historyHref(name, first.revision)}>revision {first.revision}</Link>
      )}
      : {count} in a row, <Link href={`~/runs/${encodeURIComponent(first.runId)}`}>the first</Link>{' '}
      <Time at={first.endedAt} />.
      {completed && (
        <>
          {' '}
          <Link href={compareHref(completed.runId, first.runId)}>Compare</Link> with the last run that completed
          {completed.revision !== undefined && `, of revision ${completed.revision}`}.
        </>
      )}
    </p>
  );
}
