import { StatusBadge } from '../components/status-badge.js';
import { type Brainstorm, roleLabel } from './brainstorm.js';

/** Shows the work of each agent in each pass, the newest pass first. */
export function Passes({ brainstorm: { agents, passes, status } }: { brainstorm: Brainstorm }) {
  if (passes.length === 0) return <p className="text-sm text-muted-foreground">The first pass is about to begin.</p>;
  return (
    <div className="overflow-x-auto rounded-md border" tabIndex={0} role="region" aria-label="Passes">
      <table aria-label="Passes by agent" className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b text-left text-xs text-muted-foreground">
            <th scope="col" className="px-3 py-2 font-medium">
              Iteration
            </th>
            {agents.map(({ agent, name, role }, position) => (
              <th key={position} scope="col" title={agent} className="px-3 py-2 font-medium">
                <span className="block max-w-44 truncate text-foreground">{name}</span>
                {roleLabel(role)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {passes.toReversed().map((pass) => (
            <tr key={pass.iteration} data-pass={pass.iteration} className="border-b align-top last:border-0">
              <th scope="row" className="px-3 py-2 text-left font-medium tabular-nums">
                {pass.iteration}
                <span className="block text-xs font-normal text-muted-foreground">
                  {pass.confidence?.toFixed(2) ?? (status === 'active' ? 'under way' : 'not complete')}
                </span>
              </th>
              {pass.agents.map(({ status, error }, position) => (
                <td key={position} className="px-3 py-2">
                  <StatusBadge status={status} />
                  {error !== undefined && <p className="mt-1 max-w-56 text-xs break-words text-destructive">{error}</p>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
