import { type FormEvent, type ReactNode } from 'react';
import type { Action } from '../api/use-action.js';
import { Button } from './button.js';

interface FormPageProps {
  action: Action;
  /** What the button says. */
  submit: string;
  onSubmit: (fields: FormData) => void;
  children: ReactNode;
}

/** A form on a page of its own, with what the service refused above its button. */
export function FormPage({ action, submit, onSubmit, children }: FormPageProps) {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form onSubmit={send} className="mx-auto w-full max-w-2xl space-y-5 p-4 md:p-6">
      {children}
      {action.error !== undefined && (
        <p role="alert" className="rounded-md border border-destructive/50 bg-destructive/5 p-3 text-sm">
          {action.error}
        </p>
      )}
      <Button kind="primary" type="submit" disabled={action.pending}>
        {submit}
      </Button>
    </form>
  );
}

/** A field's text without the space around it; `undefined` where nothing was typed. */
export function textOf(fields: FormData, name: string): string | undefined {
  const value = fields.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** What a field lists, with commas or lines between them. */
export function textsOf(fields: FormData, name: string): string[] {
  return (textOf(fields, name) ?? '').split(/[,\n]/).flatMap((it) => (it.trim() === '' ? [] : [it.trim()]));
}

/** A field's number; `undefined` where nothing was typed. */
export function numberOf(fields: FormData, name: string): number | undefined {
  const text = textOf(fields, name);
  return text === undefined ? undefined : Number(text);
}
