import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { type Draft, EMPTY_DRAFT, moveNodes } from './draft.js';
import { Editor } from './editor.js';
import { draftOf, getWorkflow, withoutRevision } from './workflow-api.js';

/** Shows the editor of a workflow, or of a new one. */
export function EditorPage({ name }: { name: string | undefined }) {
  const [begunEmpty] = useState(name === undefined);
  if (begunEmpty || name === undefined) {
    return <Editor initial={EMPTY_DRAFT} revision={undefined} isNew={name === undefined} />;
  }
  return <SavedEditor key={name} name={name} />;
}

function SavedEditor({ name }: { name: string }) {
  const resource = useQuery({ queryKey: ['draft', name], queryFn: ({ signal }) => placedDraft(name, signal) });
  const header = resource.data === undefined && (
    <PageHeader title={name} up={{ label: 'Workflows', href: '~/workflows' }} />
  );
  return (
    <>
      {header}
      <ResourceView resource={resource}>
        {({ draft, revision }) => <Editor initial={draft} revision={revision} isNew={false} />}
      </ResourceView>
    </>
  );
}

/** Fetches a workflow and positions its nodes, since a workflow that no editor has saved has no positions. */
async function placedDraft(name: string, signal: AbortSignal): Promise<{ draft: Draft; revision: string }> {
  const [workflow, { placedAside }] = await Promise.all([
    getWorkflow(name, signal),
    import('../graph/layout-aside.js'),
  ]);
  const draft = draftOf(withoutRevision(workflow));
  return { draft: moveNodes(draft, await placedAside(draft)), revision: workflow.revision ?? '*' };
}
