import { Wrench } from 'lucide-react';
import { Link } from 'wouter';
import { DataTree } from '../components/data-tree.js';
import { Elapsed } from '../components/time.js';
import { Fold } from './fold.js';
import { StepHead } from './step-head.js';
import type { ToolQuestion, ToolStep } from './transcript.js';

/** Shows a call of a tool: its arguments, the approval that a person gave, and its result. */
export function ToolStepView({ step }: { step: ToolStep }) {
  const { tool, args, state, from, to, result, error, truncated, made, question, taskId } = step;
  // The arguments are unknown if the events begin after the call.
  const isEmpty = args === undefined || (typeof args === 'object' && args !== null && Object.keys(args).length === 0);
  return (
    <>
      <StepHead
        Icon={Wrench}
        color="text-node-tool"
        title={<code>{tool}</code>}
        note={truncated ? 'result cut' : ''}
        state={state}
        from={from}
        to={made > 0 ? to : undefined}
      />
      {taskId !== undefined && (
        <p className="text-xs">
          <Link href={`~/tasks/${encodeURIComponent(taskId)}`} className="underline">
            The agent's task
          </Link>
        </p>
      )}
      {question && <Asked question={question} />}
      {made > 1 && <p className="text-xs text-warning">It was cut off, and called {made} times.</p>}
      {!isEmpty && (
        <Fold title="Arguments" summary={JSON.stringify(args)}>
          <DataTree value={args} label={`Arguments of ${tool}`} />
        </Fold>
      )}
      {error !== undefined && <p className="text-sm break-words text-destructive">{error}</p>}
      {result !== undefined && error === undefined && (
        <Fold title={truncated ? 'Result, cut' : 'Result'} summary={summarizeResult(result)}>
          {truncated && <p className="text-xs text-warning">The result was too long: this is its beginning.</p>}
          {typeof result === 'string' ? (
            <Text text={result} />
          ) : (
            <DataTree value={result} label={`Result of ${tool}`} />
          )}
        </Fold>
      )}
    </>
  );
}

function Asked({ question: { at, answer, answeredAt, byAgent, text } }: { question: ToolQuestion }) {
  if (byAgent) return <p className="text-xs break-words text-muted-foreground">{text}</p>;
  if (answer === undefined) return <p className="text-xs text-warning">Waiting for approval.</p>;
  return (
    <p className="text-xs text-muted-foreground">
      Approval was requested; the answer was {answer}
      {at !== undefined && answeredAt !== undefined && (
        <>
          {' after '}
          <Elapsed from={at} to={answeredAt} />
        </>
      )}
      .
    </p>
  );
}

/** Shows a tool's text unformatted, since it is not trusted. */
function Text({ text }: { text: string }) {
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label="Text"
      className="max-h-72 overflow-auto max-md:max-h-none rounded-md border bg-muted/50 p-2 font-mono text-xs break-words whitespace-pre-wrap"
    >
      {text}
    </pre>
  );
}

function summarizeResult(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}
