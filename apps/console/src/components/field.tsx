import {
  type Ref,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';

const CONTROL =
  'w-full min-w-0 rounded-md border border-input bg-card px-2.5 py-1.5 text-sm placeholder:text-muted-foreground disabled:bg-muted';

interface FieldProps {
  label: string;
  /** Advice that is shown beside the control before the person types. */
  hint?: ReactNode;
  error?: string | undefined;
  /** Renders the control. A control that no `<label>` can name refers to the label by `labelId`. */
  children: (id: string, labelId: string) => ReactNode;
}

/** Shows a control with its label, a hint, and the error of its value. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label id={`${id}-label`} htmlFor={id} className="text-sm font-medium wrap-anywhere">
        {label}
      </label>
      {children(id, `${id}-label`)}
      {hint && <p className="text-xs text-muted-foreground">{hint}</p>}
      <FieldError error={error} />
    </div>
  );
}

/** Shows the error of a value; takes no space without one. */
export function FieldError({ error }: { error: string | undefined }) {
  if (error === undefined || error === '') return null;
  return (
    <p role="alert" className="text-xs text-destructive">
      {error}
    </p>
  );
}

export function Input({ className = '', ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return <input className={`${CONTROL} ${className}`} {...rest} />;
}

export function TextArea({
  className = '',
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> }) {
  return <textarea className={`${CONTROL} ${className}`} {...rest} />;
}

export function Select({ className = '', ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={`${CONTROL} ${className}`} {...rest} />;
}
