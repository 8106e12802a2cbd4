import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';

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

/** Returns the CSS classes of a button. Links that look like a button use them as well. */
export function buttonClass(kind: NonNullable<ButtonProps['kind']> = 'plain'): string {
  return `${SHAPE} ${KINDS[kind]}`;
}

export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  const disabled =
    kind === 'quiet'
      ? 'disabled:pointer-events-none disabled:opacity-50'
      : 'disabled:pointer-events-none disabled:border-border disabled:bg-muted disabled:text-muted-foreground';
  return <button type={type} className={`${buttonClass(kind)} ${disabled} ${className}`} {...rest} />;
}
