import type { ReactNode } from 'react';
import type { Action } from '../api/use-action.js';
import { Button, type ButtonProps } from './button.js';

interface CommandButtonProps extends Omit<ButtonProps, 'onClick'> {
  action: Action;
  work: () => Promise<unknown>;
  /** Question to confirm before an action that cannot be undone. */
  question?: string;
  children: ReactNode;
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
