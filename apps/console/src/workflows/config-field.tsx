import { CheckField, ChoiceField } from '../components/choice-fields.js';
import { Field, Input, TextArea } from '../components/field.js';
import { KNOWN_TOOLS, type NodeField } from '../nodes/node-fields.js';
import { SchemaField } from '../schema/schema-field.js';
import { AgentFields } from './config/agent/agent-fields.js';
import { ChildFields } from './config/child-fields.js';
import type { ConfigMember } from './config/config-member.js';
import { RegisteredAgentField } from './config/registered-agent-field.js';
import { ValuesField } from './config/values-field.js';
import { WaitFields } from './config/wait-fields.js';
import { JsonField } from './json-field.js';
import { NumberField } from './number-field.js';
import { PromptField } from './prompt-field.js';

interface ConfigFieldProps extends ConfigMember {
  field: NodeField;
}

/** Shows an input for a member of a node's config, or for several members that belong together. */
export function ConfigField({ field, ...member }: ConfigFieldProps) {
  const { node, draft, onConfig, onLanguage } = member;
  const value = node.config[field.key];
  const onChange = (next: unknown): void => onConfig(field.key, next);
  const { label, hint } = field;
  switch (field.kind) {
    case 'prompt':
      return (
        <PromptField
          field={field}
          value={textOrEmpty(value)}
          draft={draft}
          path={`${member.path}.config.${field.key}`}
          onChange={onChange}
          onLanguage={onLanguage}
        />
      );
    case 'json':
      return <JsonField field={field} value={value} onChange={onChange} />;
    case 'number':
      return <NumberField field={field} value={value} onChange={onChange} />;
    case 'flag':
      return (
        <CheckField label={label} hint={hint} checked={value === true} onChange={(is) => onChange(is || undefined)} />
      );
    case 'choice':
      return (
        <ChoiceField
          label={label}
          hint={hint}
          value={textOrEmpty(value)}
          options={field.options ?? {}}
          onChange={(next) => onChange(next === '' ? undefined : next)}
        />
      );
    case 'schema':
    case 'form':
      return <SchemaField label={label} hint={hint} value={value} form={field.kind === 'form'} onChange={onChange} />;
    case 'values':
      return (
        <ValuesField
          label={label}
          hint={hint}
          one="value"
          value={value}
          draft={draft}
          path={`${member.path}.config.${field.key}`}
          onLanguage={onLanguage}
          onChange={onChange}
        />
      );
    case 'wait':
      return <WaitFields {...member} />;
    case 'child':
      return <ChildFields {...member} />;
    case 'agent':
      return <AgentFields {...member} />;
    case 'registered':
      return <RegisteredAgentField {...member} />;
    default:
      return <TextField field={field} value={textOrEmpty(value)} onChange={onChange} />;
  }
}

interface TextFieldProps {
  field: NodeField;
  value: string;
  onChange: (value: string) => void;
}

function TextField({ field: { label, kind, placeholder, hint }, value, onChange }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(id) =>
        kind === 'long-text' ? (
          <TextArea id={id} rows={4} value={value} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <>
            <Input
              id={id}
              value={value}
              placeholder={placeholder}
              list={kind === 'tool' ? `${id}-tools` : undefined}
              onChange={(event) => onChange(event.target.value)}
            />
            {kind === 'tool' && (
              <datalist id={`${id}-tools`}>
                {Object.entries(KNOWN_TOOLS).map(([name, about]) => (
                  <option key={name} value={name}>
                    {about}
                  </option>
                ))}
              </datalist>
            )}
          </>
        )
      }
    </Field>
  );
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
