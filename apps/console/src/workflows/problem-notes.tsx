/** Shows the problems of the node, edge or workflow that a panel is about. */
export function ProblemNotes({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <div role="alert" className="rounded-md border border-destructive/50 bg-destructive/5 p-2 text-sm">
      <ul className="space-y-1">
        {problems.map((problem) => (
          <li key={problem} className="break-words">
            {problem}
          </li>
        ))}
      </ul>
    </div>
  );
}
