import { type FormEvent, type ReactNode } from 'react';
import type { Action } from '../api/use-action.js';
import { Button } from './button.js';

interface FormPageProps {
  action: Action;
  /** Label of the submit button. */
  submit: string;
  onSubmit: (fields: FormData) => void;
  children: ReactNode;
  /** Content of the form below its button, such as a test of what is entered. */
  below?: ReactNode;
}

/** Shows a form on a page of its own, with the service's error above its button. */
export function FormPage({ action, submit, onSubmit, children, below }: FormPageProps) {
  const submitFields = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form onSubmit={submitFields} className="mx-auto w-full max-w-2xl space-y-5 p-4 md:p-6">
      {children}
      {action.error !== undefined && (
        <p role="alert" className="rounded-md border border-destructive/50 bg-destructive/5 p-3 text-sm">
          {action.error}
        </p>
      )}
      <Button kind="primary" type="submit" disabled={action.pending}>
        {submit}
      </Button>
      {below}
    </form>
  );
}
