import type { ReactNode } from 'react';
import type { ListedMcpTool, McpToolChange } from '../api/mcp-servers.js';

interface ToolChangesProps {
  changes: readonly McpToolChange[];
  /** Current tools of the server. */
  tools: readonly ListedMcpTool[];
  /** Button that accepts the changes. */
  accept: ReactNode;
}

/**
 * Shows the changes of a server's tools since they were pinned, tool by tool. A person should review them: models read
 * the descriptions unfiltered.
 */
export function ToolChanges({ changes, tools, accept }: ToolChangesProps) {
  return (
    <section aria-label="Changes" className="space-y-3 rounded-md border border-warning/50 bg-warning/5 p-3">
      <header className="flex flex-wrap items-center gap-3">
        <div className="min-w-48 grow">
          <h2 className="font-semibold">Changed since the tools were pinned</h2>
          <p className="text-sm text-muted-foreground">
            Models read what a server says of its tools. Look at it before you accept it.
          </p>
        </div>
        {accept}
      </header>
      <ul className="space-y-3">
        {changes.map(({ tool, kind, blocked, differences }) => (
          <li key={tool} data-change={tool} className="space-y-1.5 rounded-md border bg-card p-3">
            <h3 className="text-sm">
              <code className="font-medium break-all">{tool}</code> {KINDS[kind]}
              {blocked ? (
                <span className="text-destructive">, and is not called until it is accepted</span>
              ) : (
                kind !== 'removed' && ', and is still called'
              )}
            </h3>
            {kind === 'added' && (
              <Difference path="/description" after={tools.find(({ name }) => name === tool)?.description} />
            )}
            {differences.map(({ path, before, after }) => (
              <Difference key={path} path={path} before={before} after={after} />
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

const KINDS: Readonly<Record<McpToolChange['kind'], string>> = {
  added: 'is new',
  removed: 'is gone',
  changed: 'has changed',
};

const BLOCK = 'block rounded px-2 py-1 font-mono text-xs break-words whitespace-pre-wrap no-underline';

function Difference({ path, before, after }: { path: string; before?: unknown; after?: unknown }) {
  return (
    <div className="space-y-1">
      <p className="text-xs text-muted-foreground">
        <code className="break-all">{path === '' ? '/' : path}</code>
      </p>
      {before !== undefined && <del className={`${BLOCK} bg-destructive/10`}>- {formatDifference(before)}</del>}
      {after !== undefined && <ins className={`${BLOCK} bg-success/10`}>+ {formatDifference(after)}</ins>}
    </div>
  );
}

function formatDifference(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}
