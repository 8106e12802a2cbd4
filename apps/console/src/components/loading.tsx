/** Holds the place of what is on its way; shows itself only where that takes a while. */
export function Loading() {
  return (
    <div role="status" className="flex min-h-40 items-center justify-center text-sm text-muted-foreground">
      Loading …
    </div>
  );
}
