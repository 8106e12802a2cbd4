import { useQuery } from '@tanstack/react-query';
import { listRegisteredAgents } from '../../api/registered-agents.js';
import { Field, Input, Select } from '../../components/field.js';
import type { ConfigMember } from './config-member.js';

/** Members of the config that only an agent at a URL has. */
const OF_URL = ['endpoint_url', 'auth', 'protocol'];
const HINT = 'Its URL, credential and policy are those of its registration.';

/**
 * Shows the choice between an agent at a URL and a registered agent. If this person may not list registered agents,
 * the name is typed.
 */
export function RegisteredAgentField({ node, onConfig }: ConfigMember) {
  const { agent, timeout } = node.config;
  const name = typeof agent === 'string' ? agent : '';
  const all = useQuery({ queryKey: ['registered-agents'], queryFn: ({ signal }) => listRegisteredAgents(signal) });
  const chooseAgent = (next: string): void => {
    if (next === name) return;
    onConfig('agent', next);
    for (const key of next === '' ? ['skill'] : OF_URL) onConfig(key, undefined);
    // The usual limit is for agents at a URL.
    if (next !== '' && timeout === DEFAULT_TIMEOUT) onConfig('timeout', undefined);
  };
  const names = all.data?.map((it) => it.name) ?? [];
  return (
    <Field label="Registered agent" hint={HINT}>
      {(id) =>
        all.isError ? (
          <Input
            key={name}
            id={id}
            defaultValue={name}
            autoComplete="off"
            spellCheck={false}
            onBlur={({ target }) => chooseAgent(target.value.trim())}
            onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
          />
        ) : (
          <Select id={id} value={name} onChange={({ target }) => chooseAgent(target.value)}>
            <option value="">None: an agent at a URL</option>
            {name !== '' && !names.includes(name) && (
              <option value={name}>{all.data ? `${name} (not registered)` : name}</option>
            )}
            {names.map((it) => (
              <option key={it}>{it}</option>
            ))}
          </Select>
        )
      }
    </Field>
  );
}

/** Timeout of a new node in seconds. */
const DEFAULT_TIMEOUT = 30;
