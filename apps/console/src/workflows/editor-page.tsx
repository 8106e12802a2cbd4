import { useResource } from '../api/use-resource.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { EMPTY_DRAFT } from './draft.js';
import { Editor } from './editor.js';
import { draftOf, getWorkflow } from './workflow-api.js';

/** The editor of a workflow, or of a new one. */
export function EditorPage({ name }: { name: string | undefined }) {
  return name === undefined ? <Editor initial={EMPTY_DRAFT} isNew /> : <SavedEditor name={name} />;
}

function SavedEditor({ name }: { name: string }) {
  const resource = useResource(name, (signal) => getWorkflow(name, signal));
  const header = resource.data === undefined && <PageHeader title={name} up={{ label: 'Workflows', href: '/' }} />;
  return (
    <>
      {header}
      <ResourceView resource={resource}>
        {(workflow) => <Editor initial={draftOf(workflow)} isNew={false} />}
      </ResourceView>
    </>
  );
}
