import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EchoNote } from '../components/echo-note.js';
import { EmptyState } from '../components/empty-state.js';
import { ResourceView } from '../components/resource-view.js';
import { ECHO_MODEL, listModels, type ModelEntry, PROVIDERS } from '../api/models.js';
import { SettingsPage } from './settings-page.js';

const COLUMNS: readonly Column<ModelEntry>[] = [
  { title: 'Model', cell: ({ name }) => name },
  { title: 'Provider', cell: ({ provider }) => PROVIDERS[provider] },
  { title: 'At the provider', cell: ({ model }) => model, wideOnly: true },
  { title: 'Credential', cell: ({ auth }) => auth ?? 'none', wideOnly: true },
  { title: 'Takes', cell: ({ input }) => ['text', ...input].join(', '), wideOnly: true },
];

const getModelKey = ({ name }: ModelEntry): string => name;

/** Shows the models that agent nodes may name. */
export function ModelList() {
  const models = useQuery({ queryKey: ['models'], queryFn: ({ signal }) => listModels(signal) });
  return (
    <SettingsPage
      actions={
        <Link href="/new-model" className={buttonClass('primary')}>
          <Plus className="size-4" aria-hidden /> Add a model
        </Link>
      }
    >
      <ResourceView resource={models}>
        {({ models: rows, defaultModel }) => (
          <>
            {defaultModel === ECHO_MODEL && (
              <div className="p-4">
                <EchoNote />
              </div>
            )}
            {rows.length === 0 ? (
              <EmptyState title="No model yet">
                Agent nodes answer with the service's own model. Add one by name, with the credential that pays for it.
              </EmptyState>
            ) : (
              <DataTable
                label="Models"
                rows={rows}
                columns={COLUMNS}
                keyOf={getModelKey}
                hrefOf={({ name }) => `/models/${name}`}
              />
            )}
          </>
        )}
      </ResourceView>
    </SettingsPage>
  );
}
