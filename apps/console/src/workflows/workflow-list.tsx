import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { DataTable, NameText } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Input } from '../components/field.js';
import { Loading } from '../components/loading.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { Time } from '../components/time.js';
import { TourOffer } from './tour-offer.js';
import { listWorkflows, type WorkflowRecord, workflowListKey } from './workflow-api.js';

/** Component of the templates, loaded only where they are shown. */
const TemplateGallery = lazy(async () => ({ default: (await import('./template-gallery.js')).TemplateGallery }));

export function WorkflowList() {
  const resource = useQuery({ queryKey: workflowListKey(), queryFn: ({ signal }) => listWorkflows(signal) });
  const [search, setSearch] = useState('');
  const create = (
    <Link href="/new" className={buttonClass('primary')}>
      <Plus className="size-4" aria-hidden /> New workflow
    </Link>
  );
  return (
    <>
      <PageHeader
        title="Workflows"
        actions={
          <>
            <Input
              type="search"
              aria-label="Search workflows"
              placeholder="Search …"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
              className="w-40!"
            />
            {create}
          </>
        }
      />
      <ResourceView resource={resource}>
        {(workflows) =>
          workflows.length === 0 ? (
            <NoWorkflow create={create} />
          ) : (
            <WorkflowTable workflows={workflows.filter((it) => matchesWorkflow(it, search))} />
          )
        }
      </ResourceView>
    </>
  );
}

/** Shows how to begin: with a template, or with an empty canvas. */
function NoWorkflow({ create }: { create: ReactNode }) {
  return (
    <div className="min-h-0 grow overflow-y-auto pb-8">
      <EmptyState title="No workflow yet" action={create}>
        A workflow is a graph of agents. Draw one: begin with a User Input, let an agent work on it, and end with an
        Output. Or begin with a template, which runs at once.
      </EmptyState>
      <div className="-mt-10 mb-8 px-4">
        <TourOffer />
      </div>
      <section aria-label="Begin with a template" className="mx-auto max-w-5xl px-4">
        <Suspense fallback={<Loading />}>
          <TemplateGallery />
        </Suspense>
      </section>
    </div>
  );
}

function WorkflowTable({ workflows }: { workflows: readonly WorkflowRecord[] }) {
  if (workflows.length === 0) {
    return <EmptyState title="No workflow matches">Try other words, or clear the search.</EmptyState>;
  }
  return (
    <DataTable
      label="Workflows"
      rows={workflows}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => `/edit/${encodeURIComponent(name)}`}
      columns={[
        { title: 'Name', cell: ({ name }) => <NameText name={name} /> },
        {
          title: 'Description',
          cell: ({ description }) => <span title={description}>{description}</span>,
          wideOnly: true,
          className: 'w-1/2 max-w-0! truncate',
        },
        { title: 'Nodes', cell: ({ nodes }) => nodes.length },
        { title: 'Saved', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
      ]}
    />
  );
}

function matchesWorkflow({ name, description = '' }: WorkflowRecord, search: string): boolean {
  return `${name} ${description}`.toLowerCase().includes(search.trim().toLowerCase());
}
