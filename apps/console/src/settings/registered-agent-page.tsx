import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { type ReactNode } from 'react';
import { Link } from 'wouter';
import { agentHref } from '../agents/agent-ref.js';
import { readCard } from '../agents/card-report.js';
import { CardView } from '../agents/card-view.js';
import { Button, buttonClass } from '../components/button.js';
import { CopyButton } from '../components/json-view.js';
import { PageHeader, Section } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import {
  getRegisteredAgent,
  type ListedRegisteredAgent,
  readAgentState,
  type RegisteredAgentPolicy,
  type RegisteredAgentState,
} from './registered-agent-api.js';
import { POLICY_FIELDS } from './registered-agent-policy.js';
import { RemoveButton } from './remove-button.js';

const UP = { label: 'Agents', href: '~/settings/agents' };

/** Shows a registered agent: the state of its card, its policy, and the card that this service serves. */
export function RegisteredAgentPage({ name }: { name: string }) {
  const agent = useQuery({
    queryKey: ['registered-agent', name],
    queryFn: ({ signal }) => getRegisteredAgent(name, signal),
  });
  const url = agent.data?.url;
  const state = useQuery({
    queryKey: ['agent-state', url],
    queryFn: ({ signal }) => readAgentState(url ?? '', signal),
    enabled: url !== undefined,
  });
  const card = useQuery({
    queryKey: ['card', 'registered', name],
    queryFn: ({ signal }) => readCard({ kind: 'served', path: `agents/${name}` }, signal),
  });
  const askAgain = (): void => void Promise.all([state.refetch(), card.refetch()]);
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={name}
        up={UP}
        aside={state.data && <StatusBadge status={state.data.status} />}
        actions={
          agent.data && (
            <>
              <Button disabled={state.isFetching} onClick={askAgain}>
                <RefreshCw className="size-4" aria-hidden /> {state.isFetching ? 'Asking …' : 'Refresh'}
              </Button>
              <Link href={`/agents/${name}/edit`} className={buttonClass()}>
                Edit
              </Link>
              <RemoveButton kind="agents" name={name} />
            </>
          )
        }
      />
      <div className="min-h-0 grow overflow-y-auto">
        <ResourceView resource={agent}>
          {(found) => (
            <div className="mx-auto max-w-4xl space-y-6 p-4 md:p-6">
              {state.data && <StateNote state={state.data} />}
              <Facts agent={found} />
              <Policy policy={found.policy} />
            </div>
          )}
        </ResourceView>
        <ResourceView resource={card}>{(report) => <CardView report={report} />}</ResourceView>
      </div>
    </div>
  );
}

function StateNote({ state: { status, reason, pinId, isBlocked } }: { state: RegisteredAgentState }) {
  if (status === 'ok') return null;
  if (status === 'unreachable')
    return (
      <p role="alert" className="rounded-md border border-destructive/50 bg-destructive/5 p-3 text-sm break-words">
        The agent&apos;s card cannot be read: {reason}
      </p>
    );
  return (
    <p role="status" className="rounded-md border border-warning/50 bg-warning/5 p-3 text-sm">
      The agent&apos;s card has changed since it was pinned.
      {isBlocked && ' The agent is not called until the change is accepted.'}{' '}
      {pinId !== undefined && (
        <Link href={`/cards/${pinId}`} className="font-medium underline">
          Review the change
        </Link>
      )}
    </p>
  );
}

function Facts({ agent: { name, url, auth, path, updatedAt } }: { agent: ListedRegisteredAgent }) {
  const served = `${location.origin}${path}`;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
      <Fact name="Served at">
        <span className="inline-flex max-w-full items-center">
          <span className="min-w-0 break-all">{served}</span>
          <CopyButton text={served} label="Copy the address" />
        </span>
      </Fact>
      <Fact name="Address">
        <span className="break-all">{url}</span>
      </Fact>
      <Fact name="Credential">{auth ?? 'none'}</Fact>
      <Fact name="Saved">
        <Time at={updatedAt} />
      </Fact>
      <Fact name="Try it">
        <Link
          href={`~/agents${agentHref({ kind: 'served', path: `agents/${name}` }, 'playground')}`}
          className="font-medium underline"
        >
          Open the playground
        </Link>
      </Fact>
    </dl>
  );
}

function Policy({ policy }: { policy: RegisteredAgentPolicy }) {
  const given = POLICY_FIELDS.filter(({ name }) => policy[name] !== undefined);
  return (
    <Section title="Policy">
      {given.length === 0 ? (
        <p className="text-sm text-muted-foreground">All callers may send any Message.</p>
      ) : (
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
          {given.map(({ name, label }) => (
            <Fact key={name} name={label}>
              {describeValue(policy[name])}
            </Fact>
          ))}
        </dl>
      )}
    </Section>
  );
}

function describeValue(value: RegisteredAgentPolicy[keyof RegisteredAgentPolicy]): string {
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? 'none' : value.map((it) => (it === '' ? '(anonymous)' : it)).join(', ');
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
