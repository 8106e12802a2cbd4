import { useNow } from '../components/clock.js';
import { lookOf } from '../components/status-badge.js';
import { Elapsed } from '../components/time.js';
import { formatDuration } from '../components/time-ago.js';
import type { CardData } from './card-data.js';

/** Shows the status of a node of a run in a line of its card. */
export function CardStatus(data: CardData & { status: string }) {
  const { status, startedAt, finishedAt, note, until, attempts } = data;
  const { Icon, label } = lookOf(status);
  const hasDuration = until === undefined && note === undefined && startedAt !== undefined && status !== 'skipped';
  const text = note ?? label;
  return (
    <span className="flex items-center gap-1">
      <Icon className="size-3 shrink-0" aria-hidden />
      {/* A card whose letters are large has room for the icon and the duration alone. */}
      <span title={text} className={hasDuration ? 'truncate @max-[11.6em]:sr-only' : 'truncate'}>
        {text}
      </span>
      {until !== undefined && <Countdown until={until} />}
      {hasDuration && (
        <>
          <span className="@max-[11.6em]:hidden"> · </span>
          <Elapsed from={startedAt} to={finishedAt} />
        </>
      )}
      {attempts && attempts.most > 1 && <Dots {...attempts} />}
    </span>
  );
}

/** Shows the time left; `now` once the time has come. */
export function Countdown({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  return <span className="shrink-0 tabular-nums">{left > 0 ? `in ${formatDuration(left)}` : 'now'}</span>;
}

const MOST_DOTS = 6;

/**
 * Shows a dot for each allowed attempt, filled for each attempt made. Shows the two numbers instead if there are many.
 */
function Dots({ made, most }: { made: number; most: number }) {
  const title = `${made} of ${most} attempts`;
  if (most > MOST_DOTS) return <span title={title} className="ml-auto shrink-0">{`${made}/${most}`}</span>;
  return (
    <span role="img" aria-label={title} title={title} className="ml-auto flex shrink-0 gap-0.5">
      {Array.from({ length: most }, (_, index) => (
        <span
          key={index}
          className={`size-1.5 rounded-full border border-current ${index < made ? 'bg-current' : ''}`}
        />
      ))}
    </span>
  );
}
