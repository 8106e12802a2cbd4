import { Link } from 'wouter';

/** Says that the built-in model answers because no model is set up, with a link to the models. */
export function EchoNote() {
  return (
    <p role="note" className="rounded-md border border-warning/50 bg-warning/5 p-2.5 text-sm">
      No model is set up. <code>echo</code> repeats its input.{' '}
      <Link href="~/settings/models" className="underline">
        Set one up
      </Link>
    </p>
  );
}
