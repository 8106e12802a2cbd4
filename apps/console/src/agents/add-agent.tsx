import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { rememberAgent } from '../api/known-agents.js';
import { Button } from '../components/button.js';
import { Input } from '../components/field.js';
import { agentHref } from './agent-ref.js';

/** Adds a remote agent by its URL, and shows its card. */
export function AddAgent() {
  const [url, setUrl] = useState('');
  const [error, setError] = useState<string>();
  const [, navigate] = useLocation();
  const addAgent = (event: FormEvent): void => {
    event.preventDefault();
    const address = url.trim();
    if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
      setError('That is no URL: it begins with http:// or https://.');
      return;
    }
    rememberAgent(address);
    navigate(agentHref({ kind: 'remote', url: address }));
  };
  return (
    <form onSubmit={addAgent} noValidate className="shrink-0 border-b bg-card px-4 py-2">
      <div className="flex gap-2">
        <Input
          type="url"
          aria-label="URL of a remote agent"
          placeholder="URL of a remote agent, or of its card"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        <Button type="submit">Add</Button>
      </div>
      {error !== undefined && (
        <p role="alert" className="mt-1 text-xs text-destructive">
          {error}
        </p>
      )}
    </form>
  );
}
