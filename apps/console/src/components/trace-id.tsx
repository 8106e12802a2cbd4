import { CopyButton } from './json-view.js';

/** Shows a shortened trace id, as in the service's log and in a tracing system, with a button that copies it. */
export function TraceId({ id }: { id: string }) {
  return (
    <span className="inline-flex whitespace-nowrap items-center gap-1 text-xs text-muted-foreground" title={id}>
      trace <code>…{id.slice(-8)}</code>
      <CopyButton text={id} label="Copy trace id" />
    </span>
  );
}
