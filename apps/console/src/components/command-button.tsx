import type { ReactNode } from 'react';
import type { Action } from '../api/use-action.js';
import { Button, type ButtonProps } from './button.js';

interface CommandButtonProps extends Omit<ButtonProps, 'onClick'> {
  action: Action;
  work: () => Promise<unknown>;
  /**
   * Question that the person must confirm before the action, for actions that cannot be undone. Absent: the action
   * starts at once.
   */
  question?: string;
  children: ReactNode;
}

/** Shows the error of a page's last action, if it failed. */
export function ActionError({ action: { error } }: { action: Action }) {
  if (error === undefined) return null;
  return (
    <p role="alert" className="border-b border-destructive/50 bg-destructive/5 px-4 py-2 text-sm">
      {error}
    </p>
  );
}

/** Shows a button that calls the service. */
export function CommandButton({ action, work, question, children, disabled, ...rest }: CommandButtonProps) {
  const confirmAndRun = (): void => {
    if (question === undefined || confirm(question)) void action.run(work);
  };
  return (
    <Button {...rest} disabled={disabled === true || action.pending} onClick={confirmAndRun}>
      {children}
    </Button>
  );
}
