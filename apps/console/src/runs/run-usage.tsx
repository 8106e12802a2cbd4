import { costText, inputText, outputText, type ShownUsage, usageText } from '../components/usage-text.js';
import type { Run } from './run-api.js';

interface RunUsageProps {
  usage: NonNullable<Run['usage']>;
  budget: Run['budget'];
}

/** Shows the tokens and the cost of a run's own nodes, the totals including its child runs, and the run's budget. */
export function RunUsage({ usage, budget }: RunUsageProps) {
  const { own, models } = usage;
  const rows: [label: string, sums: ShownUsage][] = [
    ['With child runs', usage],
    ['Own nodes', own],
    ...(models.length > 1 ? models.map((sums): [string, ShownUsage] => [sums.model, sums]) : []),
  ];
  return (
    <section aria-label="Tokens and cost" className="space-y-1">
      <h3 className="text-sm font-medium">Tokens and cost</h3>
      <div className="overflow-x-auto">
        <table className="w-full text-left text-sm">
          <thead className="text-xs text-muted-foreground">
            <tr>
              {['Calls of', 'Input', 'Output', 'Cost'].map((title) => (
                <th key={title} scope="col" className="py-1 pr-2 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([label, sums]) => (
              <tr key={label} title={usageText(sums)}>
                <th scope="row" className="py-1 pr-2 font-normal wrap-anywhere">
                  {label}
                </th>
                <td className="py-1 pr-2 tabular-nums">{inputText(sums)}</td>
                <td className="py-1 pr-2 tabular-nums">{outputText(sums)}</td>
                <td className="py-1 tabular-nums">{costText(sums)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {budget && <p className="text-sm text-muted-foreground">{budgetText(budget)}</p>}
    </section>
  );
}

function budgetText({ usd, tokens, spentUsd, spentTokens }: NonNullable<Run['budget']>): string {
  const limits = [
    ...(usd === undefined ? [] : [`$${spentUsd} of $${usd}`]),
    ...(tokens === undefined ? [] : [`${spentTokens} of ${tokens} tokens`]),
  ];
  return `Budget: ${limits.join(', ')} spent`;
}
