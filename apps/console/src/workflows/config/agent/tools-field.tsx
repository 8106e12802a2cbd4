import { useQuery } from '@tanstack/react-query';
import { listMcpServers } from '../../../api/mcp-servers.js';
import { KNOWN_TOOLS } from '../../../nodes/node-fields.js';
import { AgentTools, type NodeToolsProps } from './agent-tools.js';
import { AskFirst } from './ask-first.js';
import { approvedName } from './called-agents.js';
import { NamesField } from './names-field.js';
import { BuiltInTools, ServerTools } from './tool-choices.js';

/** Shows the tools that a model may call, by name or glob, and those that need approval. */
export function ToolsField(props: NodeToolsProps) {
  const { tools, others, approve, onTools, onApprove } = props;
  const { data: servers = [], failureReason } = useQuery({
    queryKey: ['mcp-servers'],
    queryFn: ({ signal }) => listMcpServers(signal),
  });
  const offered = {
    ...KNOWN_TOOLS,
    ...Object.fromEntries(servers.map(({ name }) => [`${name}/*`, 'all tools of this server'])),
  };
  const listed = new Set([...tools, ...others.map(approvedName)]);
  return (
    <>
      <NamesField
        label="Tools"
        adding="Add a tool"
        hint="A built-in one, or server/tool, with * and ?. Agents are below."
        names={tools}
        offered={offered}
        beside={(name) => <AskFirst name={name} approve={approve} onApprove={onApprove} />}
        onChange={(next) => {
          onTools(next);
          // A removed tool is removed from `approve` as well.
          const gone = tools.filter((it) => !next.includes(it));
          if (approve.some((it) => gone.includes(it))) onApprove(approve.filter((it) => !gone.includes(it)));
        }}
      />
      <AgentTools {...props} />
      <BuiltInTools tools={tools} onTools={onTools} />
      {servers.map(({ name }) => (
        <ServerTools key={name} server={name} tools={tools} onTools={onTools} />
      ))}
      {failureReason !== null && (
        <p className="text-xs text-muted-foreground">
          The MCP servers cannot be listed with this key. You can still name their tools.
        </p>
      )}
      <NamesField
        label="Need approval"
        adding="Ask first about"
        hint="More of them by name or glob, such as server/delete_*: a person says yes or no before each call."
        names={approve.filter((it) => !listed.has(it))}
        offered={{}}
        onChange={(more) => onApprove([...approve.filter((it) => listed.has(it)), ...more])}
      />
    </>
  );
}
