import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { ResourceView } from '../components/resource-view.js';
import { Time } from '../components/time.js';
import { type StoredCredential, KINDS, listCredentials } from './settings-api.js';
import { SettingsPage } from './settings-page.js';

const COLUMNS: readonly Column<StoredCredential>[] = [
  { title: 'Credential', cell: ({ name }) => name },
  { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
  { title: 'Goes to', cell: ({ hosts }) => hosts?.join(', ') ?? 'where it is named', wideOnly: true },
  { title: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'), wideOnly: true },
  { title: 'Last error', cell: ({ lastError }) => lastError?.message ?? '', className: 'text-destructive' },
];

const getCredentialKey = ({ name }: StoredCredential): string => name;

/** Shows the stored credentials for remote agents and models, without their secrets. */
export function CredentialList() {
  const credentials = useQuery({ queryKey: ['credentials'], queryFn: ({ signal }) => listCredentials(signal) });
  return (
    <SettingsPage
      actions={
        <Link href="/new-credential" className={buttonClass('primary')}>
          <Plus className="size-4" aria-hidden /> Add a credential
        </Link>
      }
    >
      <ResourceView resource={credentials}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No credential yet">
              Add a secret that a remote agent or model requires. Nodes and models refer to it by name; it is never
              shown again.
            </EmptyState>
          ) : (
            <DataTable
              label="Credentials"
              rows={rows}
              columns={COLUMNS}
              keyOf={getCredentialKey}
              hrefOf={({ name }) => `/credentials/${name}`}
            />
          )
        }
      </ResourceView>
    </SettingsPage>
  );
}
