import { X } from 'lucide-react';
import { Button } from '../components/button.js';
import { Select } from '../components/field.js';
import type { SourceOutcome } from '../graph/graph.js';
import { NodeChoice } from './control/follow-section.js';
import { type Draft, type Exit, setDraft } from './draft.js';
import type { DraftEditing } from './use-draft.js';

const OUTCOMES: Readonly<Record<SourceOutcome, string>> = {
  always: 'always',
  success: 'when it completed',
  failure: 'when it failed',
};

interface ExitFieldsProps {
  draft: Draft;
  change: DraftEditing['change'];
}

/** Shows the nodes that run once the run's outcome is known. */
export function ExitFields({ draft, change }: ExitFieldsProps) {
  const { onExit = [], nodes, edges } = draft;
  const changeExits = (exits: Exit[]): void =>
    change((last) => setDraft(last, { onExit: exits.length > 0 ? exits : undefined }));
  const free = nodes.filter(
    ({ id }) => onExit.every(({ node }) => node !== id) && edges.every(({ from, to }) => from !== id && to !== id),
  );
  return (
    <fieldset className="space-y-2">
      <legend className="text-sm font-medium">At the end of a run</legend>
      {onExit.map((exit, index) => (
        <div key={exit.node} className="flex items-center gap-2 text-sm">
          <span className="min-w-0 grow truncate">{exit.node}</span>
          <Select
            aria-label={`When ${exit.node} runs`}
            className="w-auto!"
            value={exit.on ?? 'always'}
            onChange={({ target }) => {
              const on = target.value as SourceOutcome;
              changeExits(
                onExit.map((it, at) => (at === index ? { node: it.node, ...(on !== 'always' && { on }) } : it)),
              );
            }}
          >
            {Object.entries(OUTCOMES).map(([on, label]) => (
              <option key={on} value={on}>
                {label}
              </option>
            ))}
          </Select>
          <Button
            kind="quiet"
            className="px-1!"
            aria-label={`Do not run ${exit.node} at the end`}
            onClick={() => changeExits(onExit.filter((_, at) => at !== index))}
          >
            <X className="size-4" aria-hidden />
          </Button>
        </div>
      ))}
      {free.length > 0 ? (
        <NodeChoice
          label="Also run"
          hint="Their outcome does not change that of the run."
          ids={free.map(({ id }) => id)}
          onChoose={(node) => changeExits([...onExit, { node }])}
        />
      ) : (
        onExit.length === 0 && (
          <p className="text-xs text-muted-foreground">A node without edges can run when the outcome is known.</p>
        )
      )}
    </fieldset>
  );
}
