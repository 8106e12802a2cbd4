import { useLocation } from 'wouter';
import { useAction } from '../api/use-action.js';
import { CommandButton } from '../components/command-button.js';
import { type StoredKind, deleteObject } from './settings-api.js';

/**
 * Shows a button that deletes the page's object (a model, agent, MCP server or credential), or an error that says which
 * objects still refer to it.
 */
export function RemoveButton({ kind, name }: { kind: StoredKind; name: string }) {
  const action = useAction();
  const [, navigate] = useLocation();
  return (
    <>
      {action.error !== undefined && (
        <p role="alert" className="text-xs text-destructive">
          {action.error}
        </p>
      )}
      <CommandButton
        kind="danger"
        action={action}
        question={`Delete ${name}?`}
        work={async () => {
          await deleteObject(kind, name);
          navigate(`/${kind}`);
        }}
      >
        Delete
      </CommandButton>
    </>
  );
}
