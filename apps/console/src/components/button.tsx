import { type ButtonHTMLAttributes, type MouseEvent, type ReactNode, type Ref, useState } from 'react';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  children?: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

const KINDS = {
  primary: 'bg-primary text-primary-foreground hover:brightness-110',
  plain: 'border border-input bg-card hover:bg-muted',
  quiet: 'text-muted-foreground hover:bg-muted hover:text-foreground',
  danger: 'border border-destructive/60 text-destructive hover:bg-destructive/10',
};

const SHAPE =
  'inline-flex items-center justify-center gap-1.5 rounded-md px-3 py-1.5 text-sm font-medium whitespace-nowrap';

const DISABLED =
  'aria-disabled:pointer-events-none aria-disabled:border-border aria-disabled:bg-muted aria-disabled:text-muted-foreground';
const DISABLED_QUIET = 'aria-disabled:pointer-events-none aria-disabled:opacity-50';

/** Returns the CSS classes of a button. Links that look like a button use them as well. */
export function buttonClass(kind: NonNullable<ButtonProps['kind']> = 'plain'): string {
  return `${SHAPE} ${KINDS[kind]}`;
}

/** Shows a button. A button that is disabled while it has the focus keeps the focus. */
export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  const { disabled = false, onClick, onFocus, onBlur, ...others } = rest;
  const [hasFocus, setHasFocus] = useState(false);
  const pressButton = (event: MouseEvent<HTMLButtonElement>): void => {
    if (!disabled) onClick?.(event);
    else event.preventDefault();
  };
  return (
    <button
      type={type}
      className={`${buttonClass(kind)} ${kind === 'quiet' ? DISABLED_QUIET : DISABLED} ${className}`}
      {...others}
      // The browser takes the focus from an element with the attribute "disabled".
      disabled={disabled && !hasFocus}
      aria-disabled={disabled || undefined}
      onClick={pressButton}
      onFocus={(event) => {
        setHasFocus(true);
        onFocus?.(event);
      }}
      onBlur={(event) => {
        setHasFocus(false);
        onBlur?.(event);
      }}
    />
  );
}
