import { WifiOff } from 'lucide-react';
import type { Connection } from '../api/gateway.js';

/** Says that what is shown may be old; takes no place while the connection is well. */
export function ConnectionNote({ connection }: { connection: Connection }) {
  return (
    <span role="status" data-connection={connection} className="text-xs text-warning">
      {connection === 'lost' && (
        <span className="inline-flex items-center gap-1">
          <WifiOff className="size-3.5" aria-hidden /> Connection lost. Trying again …
        </span>
      )}
      {connection === 'refused' && 'Not live: this key may not follow what happens.'}
    </span>
  );
}
