import { useClockText } from './clock.js';
import { localTime } from './local-time.js';
import { formatDuration, timeAgo } from './time-ago.js';

/** Shows the time since a moment in words; the exact time on hover. */
export function Time({ at }: { at: string | number }) {
  const date = new Date(at);
  const text = useClockText((now) => timeAgo(date.getTime(), now));
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()} className="whitespace-nowrap">
      {text}
    </time>
  );
}

/** Shows the local time of a moment, with its date unless that is today, and its seconds. */
export function StartTime({ at }: { at: string }) {
  const text = useClockText((now) => localTime(at, now, 'seconds'));
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap tabular-nums">
      {text}
    </time>
  );
}

/** Shows how long something took, or has taken so far. */
export function Elapsed({ from, to }: { from: string; to?: string | undefined }) {
  return to === undefined ? <Running from={from} /> : <span>{formatDuration(Date.parse(to) - Date.parse(from))}</span>;
}

function Running({ from }: { from: string }) {
  const text = useClockText((now) => formatDuration(now - Date.parse(from)));
  return <span className="tabular-nums">{text}</span>;
}

/** Shows a future time in the person's time zone, and the time left until then. */
export function Coming({ at }: { at: string }) {
  const text = useClockText((now) => {
    const left = Date.parse(at) - now;
    return `${localTime(at, now)}${left > 0 ? `, in ${formatDuration(left)}` : ''}`;
  });
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="tabular-nums">
      {text}
    </time>
  );
}
