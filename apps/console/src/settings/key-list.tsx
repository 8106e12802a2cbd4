import type { Schemas } from '#libs/client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { callApi } from '../api/http.js';
import { ApiProblem } from '../api/problem.js';
import { type Action, useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { CommandButton } from '../components/command-button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Field, Input } from '../components/field.js';
import { readText } from '../components/form-values.js';
import { ResourceView } from '../components/resource-view.js';
import { Time } from '../components/time.js';
import { type Key, listKeys, deleteObject } from './settings-api.js';
import { SettingsPage } from './settings-page.js';

const SCOPES: Key['scopes'] = ['agents', 'workflows', 'prompts', 'admin'];

const getCallerKey = ({ id }: Key): string => id;

/**
 * Shows the API keys of callers, with buttons to create, replace and revoke them. The text of a key is shown once, when
 * it is created.
 */
export function KeyList() {
  const keys = useQuery({ queryKey: ['keys'], queryFn: ({ signal }) => listKeys(signal) });
  const action = useAction();
  const [made, setMade] = useState<Schemas['MadeKeyView']>();
  const createKey = async (path: string, body?: object): Promise<void> => {
    setMade(await callApi<Schemas['MadeKeyView']>('POST', path, body === undefined ? {} : { body }));
    void keys.refetch();
  };
  return (
    <SettingsPage>
      <KeysOrState resource={keys}>
        {(rows) => (
          <>
            <MakeKey action={action} onMake={(body) => void action.run(() => createKey('/api/keys', body))} />
            {action.error !== undefined && (
              <p role="alert" className="px-4 pb-3 text-sm text-destructive">
                {action.error}
              </p>
            )}
            {made !== undefined && (
              <p role="status" className="mx-4 mb-3 rounded-md border p-3 text-sm">
                The key of {made.name}, which is shown only now: <code className="break-all">{made.key}</code>
              </p>
            )}
            <DataTable
              label="Keys"
              rows={rows}
              keyOf={getCallerKey}
              columns={createKeyColumns(action, {
                rotate: ({ id }) => createKey(`/api/keys/${id}/rotate`),
                revoke: async ({ id }) => {
                  await deleteObject('keys', id);
                  void keys.refetch();
                },
              })}
            />
          </>
        )}
      </KeysOrState>
    </SettingsPage>
  );
}

interface KeysOrStateProps {
  resource: { data: Key[] | undefined; failureReason: Error | null };
  children: (keys: Key[]) => ReactNode;
}

/** Shows the keys, or how to switch keys on if the service uses none. */
function KeysOrState({ resource, children }: KeysOrStateProps) {
  const { failureReason } = resource;
  if (!(failureReason instanceof ApiProblem) || failureReason.status !== 409)
    return <ResourceView resource={resource}>{children}</ResourceView>;
  return (
    <EmptyState title="This service uses no API keys">
      Callers are known in another way, or not at all. To use API keys, start the service with{' '}
      <code>AUTH_MODE=api-key</code> and a first key in <code>AUTH_API_KEYS</code>.
    </EmptyState>
  );
}

function MakeKey({ action, onMake }: { action: Action; onMake: (body: object) => void }) {
  return (
    <form
      aria-label="New key"
      className="flex flex-wrap items-end gap-3 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        onMake({ name: readText(fields, 'name') ?? '', scopes: SCOPES.filter((it) => fields.has(it)) });
      }}
    >
      <Field label="Caller" error={action.errorAt('name')}>
        {(id) => <Input id={id} name="name" required className="block w-48!" />}
      </Field>
      <fieldset className="flex gap-3 py-1.5">
        <legend className="sr-only">Scopes</legend>
        {SCOPES.map((scope) => (
          <label key={scope} className="flex items-center gap-1.5 text-sm">
            <input type="checkbox" name={scope} defaultChecked={scope === 'agents'} className="size-4" />
            {scope}
          </label>
        ))}
      </fieldset>
      <Button kind="primary" type="submit" disabled={action.pending}>
        Make a key
      </Button>
    </form>
  );
}

interface KeyCommands {
  rotate: (key: Key) => Promise<void>;
  revoke: (key: Key) => Promise<void>;
}

function createKeyColumns(action: Action, { rotate, revoke }: KeyCommands): readonly Column<Key>[] {
  return [
    { title: 'Caller', cell: ({ name }) => name },
    { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    { title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
    { title: 'By', cell: ({ createdBy }) => createdBy ?? 'the environment', wideOnly: true },
    { title: 'Ends', cell: ({ endsAt }) => endsAt !== undefined && <Time at={endsAt} />, wideOnly: true },
    {
      title: 'Actions',
      cell: (key) =>
        key.endsAt === undefined && (
          <span className="flex gap-2">
            <CommandButton action={action} work={() => rotate(key)} question={`Replace the key of ${key.name}?`}>
              Replace
            </CommandButton>
            <CommandButton
              kind="danger"
              action={action}
              work={() => revoke(key)}
              question={`Revoke the key of ${key.name}?`}
            >
              Revoke
            </CommandButton>
          </span>
        ),
    },
  ];
}
