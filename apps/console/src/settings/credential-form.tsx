import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { getJson } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { Field, Input, Select } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { credentialBody, FIELDS } from './credential-fields.js';
import { RemoveButton } from './remove-button.js';
import { type StoredCredential, type StoredCredentialKind, storeObject, KINDS } from './settings-api.js';

const UP = { label: 'Credentials', href: '~/settings/credentials' };

/** Shows the form that adds a credential. */
export function NewCredential() {
  return (
    <>
      <PageHeader title="Add a credential" up={UP} />
      <CredentialForm />
    </>
  );
}

/** Shows the form that replaces a credential, including its secret, or removes it. */
export function EditCredential({ name }: { name: string }) {
  const path = `/api/credentials/${encodeURIComponent(name)}`;
  const credential = useQuery({
    queryKey: ['credential', name],
    queryFn: ({ signal }) => getJson<StoredCredential>(path, signal),
  });
  return (
    <>
      <PageHeader title={name} up={UP} actions={<RemoveButton kind="credentials" name={name} />} />
      <ResourceView resource={credential}>{(data) => <CredentialForm credential={data} />}</ResourceView>
    </>
  );
}

function CredentialForm({ credential }: { credential?: StoredCredential }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const [kind, setKind] = useState<StoredCredentialKind>(credential?.kind ?? 'bearer');
  const saveCredential = async (fields: FormData): Promise<void> => {
    await storeObject('credentials', credential?.name, credentialBody(kind, fields));
    navigate('/credentials');
  };
  return (
    <FormPage
      action={action}
      submit={credential ? 'Replace' : 'Add'}
      onSubmit={(fields) => void action.run(() => saveCredential(fields))}
    >
      {credential === undefined && (
        <Field label="Name" hint="Nodes and models refer to it by this name." error={action.errorAt('name')}>
          {(id) => <Input id={id} name="name" required />}
        </Field>
      )}
      <Field label="Kind" error={action.errorAt('kind')}>
        {(id) => (
          <Select id={id} value={kind} onChange={({ target }) => setKind(target.value as StoredCredentialKind)}>
            {Object.entries(KINDS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <KindFields key={kind} kind={kind} credential={credential} errorAt={action.errorAt} />
      <Field
        label="Hosts"
        hint="Hosts that may receive it, separated by commas, such as api.example.com. Default: the hosts of the agents and models that name it."
        error={action.errorIn('hosts')}
      >
        {(id) => <Input id={id} name="hosts" defaultValue={credential?.hosts?.join(', ')} />}
      </Field>
    </FormPage>
  );
}

interface KindFieldsProps {
  kind: StoredCredentialKind;
  credential: StoredCredential | undefined;
  errorAt: (path: string) => string | undefined;
}

/** Shows the fields of a kind of credential with their stored values. A secret is not shown and must be typed again. */
function KindFields({ kind, credential, errorAt }: KindFieldsProps) {
  const kept = credential as Readonly<Record<string, unknown>> | undefined;
  return FIELDS[kind].map(({ name, label, hint, secret, optional, options }) => {
    const value = secret ? undefined : kept?.[name];
    const shown = Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined;
    return (
      <Field key={name} label={label} hint={hint} error={errorAt(name)}>
        {(id) =>
          options ? (
            <Select id={id} name={name} defaultValue={shown}>
              {options.map((it) => (
                <option key={it}>{it}</option>
              ))}
            </Select>
          ) : (
            <Input
              id={id}
              name={name}
              type={secret ? 'password' : 'text'}
              autoComplete="off"
              required={optional !== true}
              defaultValue={shown}
            />
          )
        }
      </Field>
    );
  });
}
