/** Shows a placeholder for content that is loading; it becomes visible only after a while. */
export function Loading() {
  return (
    <div role="status" className="flex min-h-40 items-center justify-center text-sm text-muted-foreground">
      Loading …
    </div>
  );
}
