import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { ECHO_MODEL, listModels, type ModelEntry, PROVIDERS } from '../../../api/models.js';
import { EchoNote } from '../../../components/echo-note.js';
import { Field, Input } from '../../../components/field.js';

/** Description of the echo model, which every service has. */
const ECHO = { echo: 'repeats its input' };

function useModelChoices() {
  return useQuery({ queryKey: ['models'], queryFn: ({ signal }) => listModels(signal) });
}

/** Returns descriptions of the stored models and of the echo model, by the model's name. */
export function useModels(): Readonly<Record<string, string>> {
  const { data } = useModelChoices();
  const stored = (data?.models ?? []).map((model) => [model.name, describeModel(model)]);
  return { ...Object.fromEntries(stored), ...ECHO };
}

function describeModel({ provider, model }: ModelEntry): string {
  return `${model}, ${PROVIDERS[provider]}`;
}

interface ModelFieldProps {
  value: string;
  onChange: (model: string) => void;
}

/**
 * Shows an input for the name of a model: a stored model, or a model of the service's own endpoint. An empty input
 * means the service's default.
 */
export function ModelField({ value, onChange }: ModelFieldProps) {
  const models = useModels();
  const list = useId();
  const known = models[value];
  const isEcho = useModelChoices().data?.defaultModel === ECHO_MODEL && value === '';
  return (
    <div className="space-y-2">
      {isEcho && <EchoNote />}
      <Field
        label="Model"
        hint={
          <>
            {value === ''
              ? "Empty: the service's default."
              : known === undefined
                ? "No stored model has this name: the service's own endpoint is asked for it."
                : known}{' '}
            <a href="/settings/models" target="_blank" rel="noreferrer" className="underline">
              Models
            </a>
          </>
        }
      >
        {(id) => (
          <>
            <Input
              id={id}
              list={list}
              value={value}
              autoComplete="off"
              spellCheck={false}
              placeholder="the service's own"
              onChange={({ target }) => onChange(target.value)}
            />
            <datalist id={list}>
              {Object.entries(models).map(([name, word]) => (
                <option key={name} value={name}>
                  {word}
                </option>
              ))}
            </datalist>
          </>
        )}
      </Field>
    </div>
  );
}
