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

/** Returns a field's trimmed text; `undefined` if it is empty. */
export function readText(fields: FormData, name: string): string | undefined {
  const value = fields.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Returns the entries of a text field, which commas or line breaks separate. */
export function readTexts(fields: FormData, name: string): string[] {
  return (readText(fields, name) ?? '').split(/[,\n]/).flatMap((it) => (it.trim() === '' ? [] : [it.trim()]));
}

/** Returns a field's number; `undefined` if it is empty. */
export function readNumber(fields: FormData, name: string): number | undefined {
  const text = readText(fields, name);
  return text === undefined ? undefined : Number(text);
}
