import { useQuery } from '@tanstack/react-query';
import { Field, Select } from '../components/field.js';
import { listCredentials } from './settings-api.js';

interface CredentialFieldProps {
  hint?: string;
  chosen: string | undefined;
  error: string | undefined;
}

/** Shows a choice of the stored credentials. A chosen name is offered even if no credential of this name is stored. */
export function CredentialField({ hint, chosen, error }: CredentialFieldProps) {
  const kept = useQuery({ queryKey: ['credentials'], queryFn: ({ signal }) => listCredentials(signal) });
  const names = new Set([...(kept.data ?? []).map(({ name }) => name), ...(chosen === undefined ? [] : [chosen])]);
  return (
    <Field label="Credential" hint={hint} error={error}>
      {(id) => (
        // The list loads after the form. The React key remounts the choice, so that its default applies.
        <Select id={id} name="auth" key={names.size} defaultValue={chosen}>
          <option value="">none</option>
          {[...names].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
