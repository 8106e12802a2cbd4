import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { getMcpServer, type ListedMcpTool } from '../../../api/mcp-servers.js';
import { sentenceOf } from '../../../api/problem.js';
import { Disclosure } from '../../../components/disclosure.js';
import { KNOWN_TOOLS } from '../../../nodes/node-fields.js';
import { patternFor, toggleEntry } from './patterns.js';

interface ChosenTools {
  tools: readonly string[];
  onTools: (tools: readonly string[]) => void;
}

/** Shows the built-in tools to choose from. */
export function BuiltInTools(chosen: ChosenTools) {
  const count = chosen.tools.filter((it) => it in KNOWN_TOOLS).length;
  return (
    <Disclosure title="Built-in tools" summary={summarizeChosen(count)}>
      <ul aria-label="Built-in tools" className="space-y-2">
        {Object.entries(KNOWN_TOOLS).map(([name, description]) => (
          <Choice key={name} {...chosen} pattern={name} name={name} description={description} notes={[]} />
        ))}
      </ul>
    </Disclosure>
  );
}

/** Shows the tools of an MCP server to choose from. The server is called when the person opens the list. */
export function ServerTools({ server, ...chosen }: ChosenTools & { server: string }) {
  const count = chosen.tools.filter((it) => it.startsWith(`${server}/`)).length;
  return (
    <Disclosure title={`Tools of ${server}`} summary={summarizeChosen(count)}>
      <Found server={server} {...chosen} />
    </Disclosure>
  );
}

function summarizeChosen(count: number): string | undefined {
  return count === 0 ? undefined : `${count} chosen`;
}

function Found({ server, ...chosen }: ChosenTools & { server: string }) {
  const { data, failureReason } = useQuery({
    queryKey: ['mcp-server', server],
    queryFn: ({ signal }) => getMcpServer(server, signal),
  });
  if (failureReason !== null) return <p className="text-xs text-destructive">{sentenceOf(failureReason)}</p>;
  if (!data) return <p className="text-xs text-muted-foreground">Asking {server} …</p>;
  return (
    <>
      {data.error !== undefined && <p className="text-xs text-destructive">It cannot be reached: {data.error}</p>}
      <ul aria-label={`Tools of ${server}`} className="max-h-72 space-y-2 overflow-y-auto">
        {data.tools.map((tool) => (
          <Choice
            key={tool.name}
            {...chosen}
            pattern={`${server}/${tool.name}`}
            name={tool.name}
            description={tool.description}
            notes={notesOf(tool)}
          />
        ))}
      </ul>
    </>
  );
}

function notesOf({ allowed, blocked, needsApproval }: ListedMcpTool): string[] {
  return [
    ...(allowed ? [] : ['not allowed here']),
    ...(blocked ? ['blocked until a change is accepted'] : []),
    ...(needsApproval ? ['needs approval'] : []),
  ];
}

interface ToolChoiceProps extends ChosenTools {
  /** Name of the tool in a config. */
  pattern: string;
  name: string;
  description: string;
  /** Restrictions on the tool, one text each. */
  notes: readonly string[];
}

function Choice({ tools, onTools, pattern, name, description, notes }: ToolChoiceProps) {
  const [whole, setWhole] = useState(false);
  const by = patternFor(pattern, tools);
  return (
    <li className="text-sm">
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={by !== undefined}
          // A tool that a glob matches can only be removed with the glob.
          disabled={by !== undefined && by !== pattern}
          onChange={({ target }) => onTools(toggleEntry(tools, pattern, target.checked))}
        />
        <code className="min-w-0 break-all">{name}</code>
      </label>
      {notes.length > 0 && <p className="pl-5.5 text-xs text-warning">{notes.join(', ')}</p>}
      {description !== '' && (
        <button
          type="button"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
          className={`block w-full pl-5.5 text-left text-xs break-words text-muted-foreground ${whole ? 'whitespace-pre-wrap' : 'line-clamp-2'}`}
        >
          {description}
        </button>
      )}
    </li>
  );
}
