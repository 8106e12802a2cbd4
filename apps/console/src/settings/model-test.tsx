import { useRef, useState } from 'react';
import { type ModelTestResult, testModel } from '../api/models.js';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';

/** Advice to the person by the cause of a failed test. Causes that need no advice are missing. */
const ADVICE: Partial<Record<NonNullable<ModelTestResult['failure']>['cause'], string>> = {
  'key-refused': 'The key is wrong: choose another credential, or correct this one.',
  'unknown-model': 'The provider has no model of this name: correct "Model".',
  unreachable: 'Nothing answers at this address: correct "Base URL", or start the endpoint.',
  'wrong-address': 'The address answers, but not as this provider: correct "Base URL".',
  'forbidden-address': 'The service may not call this address: its operator can allow it (OUTBOUND_ALLOW).',
  credential: 'The credential cannot be used: choose another one, or correct it.',
  'rate-limited': 'Too many calls: try again later.',
};

/** Shows a button that tests the model as the form describes it, and the result of the last test. */
export function ModelTest({ readBody }: { readBody: (fields: FormData) => object }) {
  const action = useAction();
  const button = useRef<HTMLButtonElement>(null);
  const [result, setResult] = useState<ModelTestResult>();
  const runTest = (): void => {
    const form = button.current?.form;
    if (!form?.reportValidity()) return;
    setResult(undefined);
    void action.run(async () => setResult(await testModel(readBody(new FormData(form)))));
  };
  return (
    <section aria-label="Test" className="space-y-2 border-t pt-4">
      <div className="flex flex-wrap items-center gap-3">
        <Button ref={button} disabled={action.pending} onClick={runTest}>
          {action.pending ? 'Testing …' : 'Test'}
        </Button>
        <p className="min-w-0 grow basis-60 text-xs text-muted-foreground">
          Sends one short prompt, which costs a few tokens. Nothing is saved.
        </p>
      </div>
      <div role="status">{result && <TestResult result={result} />}</div>
      {action.error !== undefined && (
        <p role="alert" className="text-sm break-words text-destructive">
          {action.error}
          {action.errorAt('baseUrl') !== undefined && `: Base URL ${action.errorAt('baseUrl')}`}
        </p>
      )}
    </section>
  );
}

function TestResult({ result }: { result: ModelTestResult }) {
  const { failure, text, truncated, usage, latencyMs } = result;
  if (failure) {
    return (
      <div
        data-cause={failure.cause}
        className="space-y-1 rounded-md border border-destructive/50 bg-destructive/5 p-3 text-sm break-words"
      >
        <p>{ADVICE[failure.cause] ?? 'The test failed.'}</p>
        <p className="text-muted-foreground">{failure.message}</p>
      </div>
    );
  }
  const tokens = usage ? `${usage.inputTokens} + ${usage.outputTokens} tokens` : 'tokens not reported';
  const cost = usage?.cost === undefined ? '' : ` · $${usage.cost}`;
  return (
    <div data-cause="none" className="space-y-1 rounded-md border bg-muted/60 p-3 text-sm">
      <p className="max-h-40 overflow-y-auto break-words whitespace-pre-wrap">
        {text === '' ? 'The answer has no text.' : text}
        {truncated && ' …'}
      </p>
      <p className="text-muted-foreground">
        It answered after {latencyMs} ms · {tokens}
        {cost}
      </p>
    </div>
  );
}
