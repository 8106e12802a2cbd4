import { type FormEvent, useState } from 'react';
import { callTool, type ListedMcpTool, type McpToolCall } from '../api/mcp-servers.js';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { JsonView } from '../components/json-view.js';
import { ViewBoundary } from '../components/view-boundary.js';
import { initialValue, type JsonSchema } from '../schema/json-schema.js';
import { SchemaInput } from '../schema/schema-form.js';

/** Shows a form that calls a tool of an MCP server, and the result. */
export function McpToolTrial({ server, tool }: { server: string; tool: ListedMcpTool }) {
  const [open, setOpen] = useState(false);
  if (!tool.allowed || tool.blocked) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-xs text-muted-foreground">Call it</summary>
      {open && (
        <ViewBoundary>
          <TrialForm server={server} tool={tool} />
        </ViewBoundary>
      )}
    </details>
  );
}

function TrialForm({ server, tool }: { server: string; tool: ListedMcpTool }) {
  const schema = tool.inputSchema as JsonSchema;
  const [args, setArgs] = useState(() => initialValue(schema, schema) ?? {});
  const [result, setResult] = useState<McpToolCall>();
  const action = useAction();
  const isReading = tool.annotations['readOnlyHint'] === true;
  const submitCall = (event: FormEvent): void => {
    event.preventDefault();
    const question = `Call ${server}/${tool.name}? The tool may change something at its server.`;
    if (!isReading && !confirm(question)) return;
    setResult(undefined);
    void action.run(async () => setResult(await callTool(server, { tool: tool.name, args, confirmed: !isReading })));
  };
  return (
    <form className="mt-2 space-y-3" onSubmit={submitCall}>
      {takesArguments(schema) && (
        <SchemaInput
          schema={schema}
          root={schema}
          label="Arguments"
          value={args}
          onChange={(it) => setArgs(it ?? {})}
        />
      )}
      <Button type="submit" disabled={action.pending}>
        {action.pending ? 'Calling …' : 'Call'}
      </Button>
      <div role="status">{result && <CallResult result={result} />}</div>
      {action.error !== undefined && (
        <p role="alert" className="text-sm break-words text-destructive">
          {action.error}
        </p>
      )}
    </form>
  );
}

function CallResult({ result: { ok, result, error, truncated, latencyMs } }: { result: McpToolCall }) {
  const shown: unknown = ok ? result : error;
  const text = typeof shown === 'string' ? shown : undefined;
  return (
    <div data-called={ok ? 'ok' : 'failed'} className="space-y-1">
      <p className="text-xs text-muted-foreground">
        {ok ? 'It answered' : 'It failed'} after {latencyMs} ms
        {truncated && '. The result has more than 256 KiB, and is cut'}
      </p>
      {text === undefined ? (
        <JsonView value={result} label="Result" />
      ) : (
        <pre
          tabIndex={0}
          role="region"
          aria-label="Result"
          className={`max-h-96 overflow-auto rounded-md border p-3 font-mono text-xs break-words whitespace-pre-wrap ${
            ok ? 'bg-muted/50' : 'border-destructive/50 bg-destructive/5'
          }`}
        >
          {text}
        </pre>
      )}
    </div>
  );
}

/** True if a tool accepts arguments: its schema allows at least one. */
function takesArguments({ properties, additionalProperties }: JsonSchema): boolean {
  return Object.keys(properties ?? {}).length > 0 || (properties === undefined && additionalProperties !== false);
}
