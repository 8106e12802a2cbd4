import { CopyButton, JsonView } from '../components/json-view.js';
import type { ListedMcpTool } from '../api/mcp-servers.js';
import { McpToolTrial } from './mcp-tool-trial.js';

/** Shows a tool as its server describes it, with its full name and whether agents may call it. */
export function McpToolView({ server, tool }: { server: string; tool: ListedMcpTool }) {
  const { name, description, inputSchema } = tool;
  const called = `${server}/${name}`;
  return (
    <li data-tool={called} className="space-y-1.5 rounded-md border bg-card p-3">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 className="text-sm font-medium break-all">
          <code>{called}</code>
        </h3>
        <CopyButton text={called} label={`Copy ${called}`} />
        {marksOf(tool).map(([mark, tone]) => (
          <span key={mark} className={`rounded-full border px-2 py-0.5 text-xs ${tone}`}>
            {mark}
          </span>
        ))}
      </div>
      <p className="max-h-40 overflow-y-auto text-sm break-words whitespace-pre-wrap">
        {description === '' ? <span className="text-muted-foreground">It has no description.</span> : description}
      </p>
      <details>
        <summary className="text-xs text-muted-foreground">Arguments</summary>
        <JsonView value={inputSchema} label={`Arguments of ${called}`} />
      </details>
      <McpToolTrial server={server} tool={tool} />
    </li>
  );
}

const QUIET = 'border-border bg-muted text-muted-foreground';
const WAITS = 'border-warning/40 bg-warning/10 text-warning';
const BAD = 'border-destructive/40 bg-destructive/10 text-destructive';

/**
 * Returns the labels of a tool with their explanations: the service's restrictions first, then the server's
 * annotations.
 */
function marksOf({ blocked, allowed, needsApproval, annotations }: ListedMcpTool): [string, string][] {
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations;
  const marks: [unknown, string, string][] = [
    [blocked, 'blocked until accepted', BAD],
    [!allowed, 'not allowed', BAD],
    [needsApproval, 'needs approval', WAITS],
    [readOnlyHint, 'only reads', QUIET],
    [idempotentHint && !readOnlyHint, 'may be repeated', QUIET],
    [destructiveHint && !readOnlyHint, 'destructive', QUIET],
  ];
  return marks.flatMap(([is, mark, tone]) => (is ? [[mark, tone] as [string, string]] : []));
}
