import { useQuery } from '@tanstack/react-query';
import { useLocation, useSearchParams } from 'wouter';
import { baseOf } from '../api/directory.js';
import { forgetAgent, useKnownAgents } from '../api/known-agents.js';
import { Button } from '../components/button.js';
import { CopyButton } from '../components/json-view.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { TabBar } from '../components/tab-bar.js';
import { agentLabel, type AgentRef, parseAgentRef } from './agent-ref.js';
import { readCard } from './card-report.js';
import { CardView } from './card-view.js';
import { Playground } from './playground.js';

/** Shows the agent named by `?agent=`: its card and a playground. */
export function AgentPage() {
  const [search] = useSearchParams();
  const text = search.get('agent') ?? '/';
  return <Shown key={text} agent={parseAgentRef(text)} />;
}

function Shown({ agent }: { agent: AgentRef }) {
  const resource = useQuery({ queryKey: ['card', agent], queryFn: ({ signal }) => readCard(agent, signal) });
  const added = useKnownAgents();
  const [, navigate] = useLocation();
  const forgetAndReturn = (url: string): void => {
    forgetAgent(url);
    navigate('~/agents');
  };
  const address = agent.kind === 'remote' ? agent.url : `${location.origin}${baseOf(agent.path)}/`;
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={resource.data?.card?.name ?? agentLabel(agent)}
        up={{ label: 'Agents', href: '~/agents' }}
        aside={
          <span className="flex min-w-0 items-center text-xs text-muted-foreground">
            <span className="truncate">{address}</span>
            <CopyButton text={address} label="Copy the address" />
          </span>
        }
        actions={
          agent.kind === 'remote' &&
          added.includes(agent.url) && <Button onClick={() => forgetAndReturn(agent.url)}>Forget</Button>
        }
      />
      <TabBar
        label="Views of the agent"
        tabs={[
          {
            name: 'card',
            label: 'Card',
            content: () => <ResourceView resource={resource}>{(report) => <CardView report={report} />}</ResourceView>,
          },
          { name: 'playground', label: 'Playground', content: () => <Playground agent={agent} /> },
        ]}
      />
    </div>
  );
}
