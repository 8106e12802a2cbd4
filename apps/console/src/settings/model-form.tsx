import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { getJson } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { Field, Input, Select } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { readText, readTexts } from '../components/form-values.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { CredentialField } from './credential-field.js';
import { RemoveButton } from './remove-button.js';
import { type ModelEntry, PROVIDERS } from '../api/models.js';
import { readModelDefaults } from './model-defaults.js';
import { ModelDefaultsFields } from './model-defaults-fields.js';
import { ModelTest } from './model-test.js';
import { storeObject } from './settings-api.js';

const UP = { label: 'Models', href: '~/settings/models' };

/** Shows the form that adds a model. */
export function NewModel() {
  return (
    <>
      <PageHeader title="Add a model" up={UP} />
      <ModelForm />
    </>
  );
}

/** Shows the form that changes or removes a model. */
export function EditModel({ name }: { name: string }) {
  const model = useQuery({
    queryKey: ['model', name],
    queryFn: ({ signal }) => getJson<ModelEntry>(`/api/models/${encodeURIComponent(name)}`, signal),
  });
  return (
    <>
      <PageHeader title={name} up={UP} actions={<RemoveButton kind="models" name={name} />} />
      <ResourceView resource={model}>{(data) => <ModelForm model={data} />}</ResourceView>
    </>
  );
}

function ModelForm({ model }: { model?: ModelEntry }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const [provider, setProvider] = useState<ModelEntry['provider']>(model?.provider ?? 'openai-compatible');
  const saveModel = async (fields: FormData): Promise<void> => {
    await storeObject('models', model?.name, buildModelBody(fields, model));
    navigate('/models');
  };
  return (
    <FormPage
      action={action}
      submit={model ? 'Save' : 'Add'}
      onSubmit={(fields) => void action.run(() => saveModel(fields))}
      below={<ModelTest readBody={(fields) => ({ name: 'unsaved', ...buildModelBody(fields, model) })} />}
    >
      {model === undefined && (
        <Field label="Name" hint="Nodes refer to it by this name." error={action.errorAt('name')}>
          {(id) => <Input id={id} name="name" required />}
        </Field>
      )}
      <Field label="Provider" error={action.errorAt('provider')}>
        {(id) => (
          <Select
            id={id}
            name="provider"
            value={provider}
            onChange={({ target }) => setProvider(target.value as ModelEntry['provider'])}
          >
            {Object.entries(PROVIDERS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Model" hint="Its name at the provider." error={action.errorAt('model')}>
        {(id) => <Input id={id} name="model" required defaultValue={model?.model} />}
      </Field>
      <Field
        label="Base URL"
        hint={
          provider === 'openai-compatible' ? 'Such as https://models.example.com/v1.' : "Default: the provider's own."
        }
        error={action.errorAt('baseUrl')}
      >
        {(id) => (
          <Input
            id={id}
            name="baseUrl"
            type="url"
            required={provider === 'openai-compatible'}
            defaultValue={model?.baseUrl}
          />
        )}
      </Field>
      <CredentialField
        hint="OpenAI and most endpoints take a bearer token, Anthropic and Google an API key."
        chosen={model?.auth}
        error={action.errorAt('auth')}
      />
      <Field
        label="Media types besides text"
        hint="Separated by commas, such as image/*, application/pdf."
        error={action.errorIn('input')}
      >
        {(id) => <Input id={id} name="input" defaultValue={model?.input.join(', ')} />}
      </Field>
      <ModelDefaultsFields defaults={model?.defaults} action={action} />
    </FormPage>
  );
}

/** Returns the body of a request. The form has no fields for prices, so stored ones stay. */
function buildModelBody(fields: FormData, model: ModelEntry | undefined): object {
  const texts = ['name', 'provider', 'model', 'baseUrl', 'auth'].flatMap((field) => {
    const text = readText(fields, field);
    return text === undefined ? [] : [[field, text]];
  });
  const defaults = readModelDefaults(fields, model?.defaults);
  return {
    ...(model && { name: model.name, ...(model.price && { price: model.price }) }),
    ...(defaults && { defaults }),
    ...Object.fromEntries(texts),
    input: readTexts(fields, 'input'),
  };
}
