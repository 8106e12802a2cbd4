import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { directoryPage } from '../../../api/directory.js';
import { useKnownAgents } from '../../../api/known-agents.js';
import { listPinnedCards } from '../../../api/pinned-cards.js';
import { Button } from '../../../components/button.js';
import { Disclosure } from '../../../components/disclosure.js';
import { AgentPicker } from './agent-picker.js';
import { AskFirst } from './ask-first.js';
import { agentEntry, approvedName, callableAgents, referenceIn } from './called-agents.js';
import { toggleEntry } from './patterns.js';

/** Maximum number of agents of this service that are suggested. Others can be typed. */
const MOST_SERVED = 500;
/** Maximum number of called remote agents that are suggested. */
const MOST_PINNED = 100;

/** Tools in the config of an `agent` node. */
export interface NodeToolsProps {
  /** Name of the node's workflow, whose own agents cannot be called. */
  workflow: string;
  tools: readonly string[];
  /** Entries of the config's `tools` that are agents with settings of their own. */
  others: readonly object[];
  /** Names of tools whose calls a person approves first. */
  approve: readonly string[];
  onTools: (tools: readonly string[]) => void;
  onOthers: (others: readonly object[]) => void;
  onApprove: (approve: readonly string[]) => void;
}

/**
 * Shows the agents that a model may call as tools. It suggests agents of this service, and remote agents that the
 * service has called.
 */
export function AgentTools(props: NodeToolsProps) {
  const count = props.others.length + props.tools.filter((it) => referenceIn(it) !== undefined).length;
  return (
    <Disclosure title="Agents" summary={count === 0 ? undefined : `${count} chosen`}>
      <Chosen {...props} />
      <Picker {...props} />
    </Disclosure>
  );
}

function Picker({ workflow, tools, others, onTools }: NodeToolsProps) {
  const added = useKnownAgents();
  const served = useQuery({
    queryKey: ['directory', MOST_SERVED],
    queryFn: ({ signal }) => directoryPage(undefined, signal, MOST_SERVED),
  });
  const { data: pinned = [] } = useQuery({
    queryKey: ['pinned-cards', MOST_PINNED],
    queryFn: ({ signal }) => listPinnedCards(MOST_PINNED, signal),
  });
  const { rows = [], nextPageToken = '' } = served.data ?? {};
  const chosen = new Set([...tools, ...others].map(referenceIn));
  const agents = callableAgents(workflow, rows, pinned, added).filter(({ reference }) => !chosen.has(reference));
  const hint = 'A workflow, a node, a known agent, or any URL.';
  return (
    <AgentPicker
      agents={agents}
      hint={nextPageToken === '' ? hint : `${hint} Of this service the first ${MOST_SERVED} are listed.`}
      onChoose={(reference) => {
        if (!chosen.has(reference)) onTools(toggleEntry(tools, agentEntry(reference), true));
      }}
    />
  );
}

function Chosen({ others, approve, onOthers, onApprove }: NodeToolsProps) {
  if (others.length === 0) return null;
  return (
    <ul aria-label="Agents with settings" className="space-y-1">
      {others.map((entry, index) => {
        const name = approvedName(entry);
        return (
          <li key={`${index} ${name}`} className="flex items-center gap-2 rounded-md border px-2 py-1 text-sm">
            <span className="min-w-0 grow">
              <code className="break-all">{name}</code>
              <span className="block text-xs break-all text-muted-foreground">{referenceIn(entry)}</span>
            </span>
            <AskFirst name={name} approve={approve} onApprove={onApprove} />
            <Button
              kind="quiet"
              className="px-1! py-0.5!"
              aria-label={`Remove ${name}`}
              onClick={() => {
                onOthers(others.filter((_, place) => place !== index));
                if (approve.includes(name)) onApprove(toggleEntry(approve, name, false));
              }}
            >
              <X className="size-4" aria-hidden />
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
