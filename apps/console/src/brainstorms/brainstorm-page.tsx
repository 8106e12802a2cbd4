import { useQuery } from '@tanstack/react-query';
import { callApi, getJson } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { useLive } from '../api/use-live.js';
import { ActionError, CommandButton } from '../components/command-button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { PageHeader } from '../components/page-header.js';
import { shortId } from '../components/page-title.js';
import { ResourceView } from '../components/resource-view.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { actionsOf, type Brainstorm, describeStanding } from './brainstorm.js';
import { BrainstormState } from './brainstorm-state.js';
import { ConfidenceChart } from './confidence-chart.js';
import { Passes } from './passes.js';

/** Shows a brainstorm: its progress in a sentence, its passes, and its state. The page updates live. */
export function BrainstormPage({ id }: { id: string }) {
  const path = `/api/brainstorms/${encodeURIComponent(id)}`;
  const queryKey = ['brainstorm', id];
  const resource = useQuery({ queryKey, queryFn: ({ signal }) => getJson<Brainstorm>(path, signal) });
  const connection = useLive(queryKey, { streams: ['task'], taskId: id });
  const action = useAction();
  const sendCommand = (name: string) => async (): Promise<void> => {
    await callApi('POST', `${path}/${name}`);
    void resource.refetch();
  };
  const it = resource.data;
  const allowed = it && actionsOf(it);
  return (
    <>
      <PageHeader
        title={it?.state.idea ?? 'Brainstorm'}
        tab={it ? [lookOf(it.status).label, it.state.idea, shortId(id)] : ['Brainstorm', shortId(id)]}
        up={{ label: 'Brainstorms', href: '~/brainstorms' }}
        aside={
          <>
            {it && <StatusBadge status={it.status} />}
            <ConnectionNote connection={connection} />
          </>
        }
        actions={
          allowed?.cancel && (
            <>
              <CommandButton action={action} work={sendCommand('approve')} kind="primary" disabled={!allowed.approve}>
                Approve
              </CommandButton>
              <CommandButton action={action} work={sendCommand('iterate')} disabled={!allowed.iterate}>
                Iterate
              </CommandButton>
              <CommandButton action={action} work={sendCommand('cancel')} kind="danger">
                Cancel
              </CommandButton>
            </>
          )
        }
      />
      <ActionError action={action} />
      <ResourceView resource={resource}>{(brainstorm) => <Body brainstorm={brainstorm} />}</ResourceView>
    </>
  );
}

function Body({ brainstorm }: { brainstorm: Brainstorm }) {
  const { passes } = brainstorm;
  return (
    <div className="mx-auto max-w-6xl space-y-6 p-4 md:p-6">
      <p role="status" data-standing className={`text-sm ${brainstorm.error ? 'text-destructive' : ''}`}>
        {describeStanding(brainstorm)}
      </p>
      <div className="grid gap-6 lg:grid-cols-[3fr_2fr]">
        <section aria-labelledby="passes" className="min-w-0">
          <h2 id="passes" className="mb-2 font-semibold">
            Passes
          </h2>
          <Passes brainstorm={brainstorm} />
        </section>
        <section aria-labelledby="confidence" className="min-w-0">
          <h2 id="confidence" className="mb-2 font-semibold">
            Confidence
          </h2>
          <ConfidenceChart passes={passes} />
        </section>
      </div>
      <BrainstormState brainstorm={brainstorm} />
    </div>
  );
}
