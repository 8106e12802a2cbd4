import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { PageHeader } from '../components/page-header.js';
import { shortId } from '../components/page-title.js';
import { ResourceView } from '../components/resource-view.js';
import { preloadCanvas } from '../graph/lazy-canvas.js';
import { getRunWorkflow } from './run-api.js';
import { RunView } from './run-view.js';

/** Shows a run and its selected node. */
export function RunPage({ runId, node }: { runId: string; node: string | undefined }) {
  useEffect(preloadCanvas, []);
  const workflow = useQuery({
    queryKey: ['run-workflow', runId],
    queryFn: ({ signal }) => getRunWorkflow(runId, signal),
  });
  return (
    <>
      {workflow.data === undefined && (
        <PageHeader title="Run" tab={[`Run ${shortId(runId)}`]} up={{ label: 'Runs', href: '~/runs' }} />
      )}
      <ResourceView resource={workflow}>
        {(definition) => <RunView runId={runId} workflow={definition} selected={node} />}
      </ResourceView>
    </>
  );
}
