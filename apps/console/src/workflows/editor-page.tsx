import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { preloadCanvas } from '../graph/lazy-canvas.js';
import { type Draft, EMPTY_DRAFT, moveNodes } from './draft.js';
import { Editor } from './editor.js';
import { templateDraft } from './template-draft.js';
import { draftOf, getWorkflow, withoutRevision } from './workflow-api.js';

interface EditorPageProps {
  /** Name of a saved workflow; `undefined` for a new one. */
  name: string | undefined;
  /** Template of a new workflow; `undefined` for an empty one. */
  template: string | undefined;
}

/**
 * Shows the editor of a saved or a new workflow. A new workflow keeps the same editor, with its undo history, after the
 * first save.
 */
export function EditorPage({ name, template }: EditorPageProps) {
  const isNew = name === undefined;
  const [, navigate] = useLocation();
  const [begun, setBegun] = useState({ isNew, template });
  useEffect(preloadCanvas, []);
  if (isNew && (!begun.isNew || begun.template !== template)) setBegun({ isNew, template });
  const openWorkflow = (other: string): void => {
    setBegun({ isNew: false, template: undefined });
    navigate(`/edit/${encodeURIComponent(other)}`);
  };
  if (!begun.isNew && !isNew) return <SavedEditor key={name} name={name} onOpen={openWorkflow} />;
  if (begun.template === undefined)
    return <Editor initial={EMPTY_DRAFT} revision={undefined} isNew={isNew} onOpen={openWorkflow} />;
  return <TemplateEditor key={begun.template} template={begun.template} isNew={isNew} onOpen={openWorkflow} />;
}

interface TemplateEditorProps {
  template: string;
  isNew: boolean;
  onOpen: (name: string) => void;
}

function TemplateEditor({ template, isNew, onOpen }: TemplateEditorProps) {
  const resource = useQuery({
    queryKey: ['template', template],
    queryFn: ({ signal }) => templateDraft(template, signal),
    // The draft of a later visit needs another name.
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <ResourceView resource={resource}>
      {(draft) => <Editor initial={draft} revision={undefined} isNew={isNew} onOpen={onOpen} />}
    </ResourceView>
  );
}

function SavedEditor({ name, onOpen }: { name: string; onOpen: (name: string) => void }) {
  const resource = useQuery({ queryKey: ['draft', name], queryFn: ({ signal }) => placedDraft(name, signal) });
  const header = resource.data === undefined && (
    <PageHeader title={name} up={{ label: 'Workflows', href: '~/workflows' }} />
  );
  return (
    <>
      {header}
      <ResourceView resource={resource}>
        {({ draft, revision }) => <Editor initial={draft} revision={revision} isNew={false} onOpen={onOpen} />}
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
