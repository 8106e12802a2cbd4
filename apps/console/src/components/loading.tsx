/** Holds the place of content that is loading; visible only after a while. */
export function Loading() {
  return (
    <div role="status" className="flex min-h-40 items-center justify-center text-sm text-muted-foreground">
      Loading …
    </div>
  );
}
