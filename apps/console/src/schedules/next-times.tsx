import { Coming } from '../components/time.js';

/** Shows the next times of a schedule in the person's time zone and in UTC. */
export function NextTimes({ times }: { times: readonly string[] }) {
  if (times.length === 0) return <p className="text-sm text-muted-foreground">There is no further time.</p>;
  return (
    <ol aria-label="Next times" className="space-y-1 text-sm">
      {times.map((at) => (
        <li key={at} className="flex flex-wrap gap-x-4">
          <Coming at={at} />
          <span className="text-muted-foreground tabular-nums">{at.replace('.000Z', 'Z')}</span>
        </li>
      ))}
    </ol>
  );
}
