import { useResource } from '../api/use-resource.js';
import { Field, Select } from '../components/field.js';
import { listCredentials } from './settings-api.js';

interface CredentialFieldProps {
  hint?: string;
  chosen: string | undefined;
  error: string | undefined;
}

/** The credentials that are kept; one that is named and not kept is among them. */
export function CredentialField({ hint, chosen, error }: CredentialFieldProps) {
  const kept = useResource('credentials', listCredentials);
  const names = new Set([...(kept.data ?? []).map(({ name }) => name), ...(chosen === undefined ? [] : [chosen])]);
  return (
    <Field label="Credential" hint={hint} error={error}>
      {(id) => (
        // What is kept comes later than the form: only then is there what it chooses from.
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
