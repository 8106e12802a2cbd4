import { useQuery } from '@tanstack/react-query';
import { type InputHTMLAttributes, useId } from 'react';
import { directoryPage } from '../api/directory.js';
import { useKnownAgents } from '../api/known-agents.js';
import { Input } from './field.js';

/** Maximum number of suggested agents. */
const SUGGESTED = 500;

interface AgentInputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** True if only agents of this service are allowed. */
  servedOnly?: boolean;
}

/** Shows an input for an agent: suggestions from the directory, or any URL. */
export function AgentInput({ servedOnly = false, ...props }: AgentInputProps) {
  const list = useId();
  const known = useKnownAgents();
  const { data } = useQuery({
    queryKey: ['directory', SUGGESTED],
    queryFn: ({ signal }) => directoryPage(undefined, signal, SUGGESTED),
  });
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
