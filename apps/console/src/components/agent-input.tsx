import { type InputHTMLAttributes, useId } from 'react';
import { directoryPage } from '../api/directory.js';
import { useKnownAgents } from '../api/known-agents.js';
import { useResource } from '../api/use-resource.js';
import { Input } from './field.js';

/** As many as a list of suggestions can be of use. */
const SUGGESTED = 500;

interface AgentInputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** Whether only agents of this service will do. */
  servedOnly?: boolean;
}

/** Names an agent: one of the directory, which is suggested, or any URL. */
export function AgentInput({ servedOnly = false, ...props }: AgentInputProps) {
  const list = useId();
  const known = useKnownAgents();
  const { data } = useResource('agent-input', (signal) => directoryPage(undefined, signal, SUGGESTED));
  return (
    <>
      <Input
        list={list}
        autoComplete="off"
        spellCheck={false}
        placeholder={servedOnly ? 'a name or a path' : 'a name, or https://…'}
        {...props}
      />
      <datalist id={list}>
        {data?.rows
          .filter(({ path }) => path !== '')
          .map(({ path, description }) => (
            <option key={path} value={path.replace(/^workflows\/([^/]+)$/, '$1')}>
              {description}
            </option>
          ))}
        {!servedOnly &&
          known.map((url) => (
            <option key={url} value={url}>
              remote
            </option>
          ))}
      </datalist>
    </>
  );
}
