import { WifiOff } from 'lucide-react';
import type { Connection } from '../api/gateway.js';

/** Shows that the data may be stale; takes no space while the connection is live. */
export function ConnectionNote({ connection }: { connection: Connection }) {
  return (
    <span role="status" data-connection={connection} className="text-xs text-warning">
      {connection === 'lost' && (
        <span className="inline-flex items-center gap-1">
          <WifiOff className="size-3.5" aria-hidden /> Connection lost. Trying again …
        </span>
      )}
      {connection === 'refused' && 'Not live: this key may not subscribe to events.'}
    </span>
  );
}
