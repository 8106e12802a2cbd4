import { useNow } from './clock.js';
import { localTime } from './local-time.js';
import { formatDuration, timeAgo } from './time-ago.js';

/** Shows the time since a moment in words; the exact time on hover. */
export function Time({ at }: { at: string | number }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()} className="whitespace-nowrap">
      {timeAgo(date.getTime(), now)}
    </time>
  );
}

/** Shows the local time of a moment, with its date unless that is today, and its seconds. */
export function StartTime({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap tabular-nums">
      {localTime(at, now, 'seconds')}
    </time>
  );
}

/** Shows how long something took, or has taken so far. */
export function Elapsed({ from, to }: { from: string; to?: string | undefined }) {
  return to === undefined ? <Running from={from} /> : <span>{formatDuration(Date.parse(to) - Date.parse(from))}</span>;
}

function Running({ from }: { from: string }) {
  const now = useNow();
  return <span className="tabular-nums">{formatDuration(now - Date.parse(from))}</span>;
}

/** Shows a future time in the person's time zone, and the time left until then. */
export function Coming({ at }: { at: string }) {
  const now = useNow();
  const left = Date.parse(at) - now;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="tabular-nums">
      {localTime(at, now)}
      {left > 0 ? `, in ${formatDuration(left)}` : ''}
    </time>
  );
}
