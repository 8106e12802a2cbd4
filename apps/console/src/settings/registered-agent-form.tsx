import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { type Action, useAction } from '../api/use-action.js';
import { Field, Input, Select } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { readText } from '../components/form-values.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { CredentialField } from './credential-field.js';
import { getRegisteredAgent, type ListedRegisteredAgent, type RegisteredAgentPolicy } from './registered-agent-api.js';
import { FORGOTTEN_CHOICES, POLICY_FIELDS, readPolicyFields } from './registered-agent-policy.js';
import { storeObject } from './settings-api.js';

const UP = { label: 'Agents', href: '~/settings/agents' };

/** Shows the form that registers an agent. */
export function NewRegisteredAgent() {
  return (
    <>
      <PageHeader title="Add an agent" up={UP} />
      <RegisteredAgentForm />
    </>
  );
}

/** Shows the form that changes a registered agent. Saving it reads and pins the agent's card again. */
export function EditRegisteredAgent({ name }: { name: string }) {
  const agent = useQuery({
    queryKey: ['registered-agent', name],
    queryFn: ({ signal }) => getRegisteredAgent(name, signal),
  });
  return (
    <>
      <PageHeader title={`Edit ${name}`} up={{ label: name, href: `~/settings/agents/${name}` }} />
      <ResourceView resource={agent}>{(data) => <RegisteredAgentForm agent={data} />}</ResourceView>
    </>
  );
}

function RegisteredAgentForm({ agent }: { agent?: ListedRegisteredAgent }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const saveAgent = async (fields: FormData): Promise<void> => {
    await storeObject('agents', agent?.name, buildAgentBody(fields, agent?.policy));
    navigate(`/agents/${agent?.name ?? readText(fields, 'name')}`);
  };
  return (
    <FormPage
      action={action}
      submit={agent ? 'Save' : 'Add'}
      onSubmit={(fields) => void action.run(() => saveAgent(fields))}
    >
      {agent === undefined && (
        <Field
          label="Name"
          hint="The agent is served at /a2a/agents/ and this name, and nodes refer to it by the name."
          error={action.errorAt('name')}
        >
          {(id) => <Input id={id} name="name" required autoComplete="off" spellCheck={false} />}
        </Field>
      )}
      <Field
        label="URL"
        hint="Base URL of the agent, or URL of its card. The service reads and pins the card."
        error={action.errorAt('url')}
      >
        {(id) => <Input id={id} name="url" type="url" required defaultValue={agent?.url} />}
      </Field>
      <CredentialField
        hint="Sent with each call of the agent. Callers never see it."
        chosen={agent?.auth}
        error={action.errorAt('auth')}
      />
      <fieldset className="space-y-5 rounded-md border p-3">
        <legend className="px-1 text-sm font-semibold">Policy</legend>
        <PolicyInputs policy={agent?.policy ?? {}} action={action} />
      </fieldset>
    </FormPage>
  );
}

function PolicyInputs({ policy, action }: { policy: RegisteredAgentPolicy; action: Action }) {
  return POLICY_FIELDS.map(({ name, label, hint, kind }) => {
    const value = policy[name];
    return (
      <Field key={name} label={label} hint={hint} error={action.errorIn(`policy.${name}`)}>
        {(id) =>
          kind === 'choice' ? (
            <Select id={id} name={name} defaultValue={value === 'fail' ? '' : String(value ?? '')}>
              {Object.entries(FORGOTTEN_CHOICES).map(([choice, text]) => (
                <option key={choice} value={choice}>
                  {text}
                </option>
              ))}
            </Select>
          ) : (
            <Input
              id={id}
              name={name}
              type={kind === 'number' ? 'number' : 'text'}
              step={kind === 'number' ? 'any' : undefined}
              defaultValue={Array.isArray(value) ? value.filter((it) => it !== '').join(', ') : value}
              autoComplete="off"
              spellCheck={false}
            />
          )
        }
      </Field>
    );
  });
}

function buildAgentBody(fields: FormData, before: RegisteredAgentPolicy | undefined): object {
  const texts = ['name', 'url', 'auth'].flatMap((field) => {
    const text = readText(fields, field);
    return text === undefined ? [] : [[field, text]];
  });
  return { ...Object.fromEntries(texts), policy: readPolicyFields(fields, before) };
}
