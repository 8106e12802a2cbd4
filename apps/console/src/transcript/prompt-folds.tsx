import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '#libs/client';
import { getJson } from '../api/http.js';
import { DataTree } from '../components/data-tree.js';
import { ErrorState } from '../components/error-state.js';
import { CopyButton } from '../components/json-view.js';
import { Loading } from '../components/loading.js';
import { Fold } from './fold.js';
import type { ModelStep } from './transcript.js';

type Prompt = Schemas['PromptTextsView'];

interface PromptPlace {
  taskId: string;
  step: ModelStep;
}

/** Renders an action, such as a button, below an agent's prompt. The function gets the text of the prompt. */
export type PromptAction = (prompt: string) => ReactNode;

/** Shows what a model was sent and answered in one step. The texts are read when a fold opens. */
export function PromptFolds({ promptAction, ...place }: PromptPlace & { promptAction?: PromptAction | undefined }) {
  return (
    <>
      <Fold title="Sent" summary="">
        <PromptTexts place={place}>{(prompt) => <SentTexts prompt={prompt} promptAction={promptAction} />}</PromptTexts>
      </Fold>
      {place.step.state !== 'running' && (
        <Fold title="Received" summary="">
          <PromptTexts place={place}>{(prompt) => <ReceivedTexts prompt={prompt} />}</PromptTexts>
        </Fold>
      )}
    </>
  );
}

function PromptTexts({ place, children }: { place: PromptPlace; children: (prompt: Prompt) => ReactNode }) {
  const { taskId, step } = place;
  const { data, error, refetch } = useQuery({
    queryKey: ['prompts', taskId, step.step, step.model, step.state],
    queryFn: ({ signal }) => readPrompt(place, signal),
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (data === null) {
    return <p className="text-xs text-muted-foreground">This call is not kept (PROMPT_LOG, or the limit of a task).</p>;
  }
  return <div className="space-y-1.5">{children(data)}</div>;
}

/** Reads the prompt of the newest model call of a step; `null` if the service keeps none. */
async function readPrompt({ taskId, step: { step, model } }: PromptPlace, signal: AbortSignal): Promise<Prompt | null> {
  const path = `/api/tasks/${encodeURIComponent(taskId)}/prompts`;
  const { calls } = await getJson<Schemas['PromptListView']>(path, signal);
  const found = calls.findLast((it) => it.step === step && it.model === model);
  return found ? getJson<Prompt>(`${path}/${found.call}`, signal) : null;
}

interface SentTextsProps {
  prompt: Prompt;
  promptAction: PromptAction | undefined;
}

function SentTexts({ prompt: { step, sent, provider, providerModel, cut }, promptAction }: SentTextsProps) {
  const { system, messages, tools, output, temperature, maxTokens } = sent;
  const parameters = { temperature, maxTokens };
  // Later steps repeat the prompt of the first one. A text that was cut is not the whole prompt.
  const asked = step === 1 && cut !== true ? findPrompt(messages) : undefined;
  return (
    <>
      <Head copied={sent} label="Copy what was sent" isCut={cut === true}>
        {provider === undefined ? 'built-in model' : `${provider} ${providerModel ?? ''}`}
      </Head>
      {system !== undefined && <Text label="System prompt" value={system} />}
      {messages.map((message, index) => (
        <Message key={index} message={message} />
      ))}
      {asked !== undefined && promptAction?.(asked)}
      {tools !== undefined && <DataTree value={tools} label="Tools" />}
      {output !== undefined && <DataTree value={output} label="Schema of the answer" />}
      {JSON.stringify(parameters) !== '{}' && <DataTree value={parameters} label="Parameters" />}
    </>
  );
}

/** Returns the text of the user's last message, which is the agent's current prompt; earlier turns come before it. */
function findPrompt(messages: readonly unknown[]): string | undefined {
  const last = messages.at(-1) as { role?: unknown; parts?: readonly { text?: string }[] } | undefined;
  if (last?.role !== 'user' || !Array.isArray(last.parts)) return undefined;
  return last.parts.flatMap(({ text }) => text ?? []).join('\n\n');
}

function ReceivedTexts({ prompt: { received, usage, ms, reason, note, error } }: { prompt: Prompt }) {
  const tokens = usage && [
    `${usage.inputTokens} + ${usage.outputTokens} tokens`,
    usage.cachedInputTokens === undefined ? '' : `${usage.cachedInputTokens} cached`,
    usage.cacheWriteInputTokens === undefined ? '' : `${usage.cacheWriteInputTokens} written to the cache`,
    usage.reasoningTokens === undefined ? '' : `${usage.reasoningTokens} reasoning`,
  ];
  const facts = [...(tokens ?? []), ms === undefined ? '' : `${ms} ms`, reason ?? '', note ?? ''];
  return (
    <>
      <Head copied={received ?? error} label="Copy what was received">
        {facts.filter((fact) => fact !== '').join(' · ')}
      </Head>
      {error !== undefined && <p className="text-sm break-words text-destructive">{error}</p>}
      {received !== undefined && <Message message={received} />}
    </>
  );
}

interface HeadProps {
  copied: unknown;
  label: string;
  isCut?: boolean;
  children: ReactNode;
}

function Head({ copied, label, isCut = false, children }: HeadProps) {
  return (
    <p className="flex items-center gap-2 text-xs text-muted-foreground">
      <span className="min-w-0 grow break-words">{children}</span>
      {isCut && <span className="text-warning">A text was cut.</span>}
      <CopyButton text={() => JSON.stringify(copied, undefined, 2)} label={label} />
    </p>
  );
}

/** Shows a message: its texts unformatted, and everything else as data. */
function Message({ message }: { message: unknown }) {
  const { role, parts, toolCalls, results, kept, ...rest } = message as Record<string, unknown>;
  const texts = Array.isArray(parts) ? (parts as { text?: string }[]) : [];
  const label = typeof role === 'string' ? role : 'cut message';
  const others = texts.filter(({ text }) => text === undefined);
  const data = { ...rest, ...(others.length > 0 && { parts: others }), toolCalls, results, kept };
  return (
    <>
      {texts.map(({ text }, index) => text !== undefined && <Text key={index} label={label} value={text} />)}
      {JSON.stringify(data) !== '{}' && <DataTree value={JSON.parse(JSON.stringify(data))} label={label} />}
    </>
  );
}

function Text({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <p className="text-xs font-medium">{label}</p>
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-72 overflow-auto max-md:max-h-none rounded-md border bg-muted/50 p-2 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}
      </pre>
    </div>
  );
}
