import type { Schemas } from '#libs/client';
import { type Narrowed, readEvents, requestApi } from '../api/http.js';
import { ApiProblem, type ProblemDetail, readProblem } from '../api/problem.js';
import { type Definition, definitionOf } from './workflow-api.js';
import type { Draft } from './draft.js';

export interface GenerationRequest {
  description: string;
  /** Name of the model that writes the workflow; empty for the service's default. */
  model: string;
  name: string;
  /** The draft to change, if any. */
  current: Draft | undefined;
}

/** A workflow that a model wrote. */
export type GeneratedWorkflow = Narrowed<Schemas['GeneratedWorkflow'], { workflow: Definition }>;

/** An event of a generation before its workflow is complete. */
export type GenerationStep =
  | { type: 'generate.started'; model: string }
  | { type: 'generate.progress'; text: string }
  | { type: 'generate.draft'; attempt: number; problems: ProblemDetail[] }
  | { type: 'generate.repair'; attempt: number; problems: ProblemDetail[] };

/**
 * Lets a model write a workflow, or change the draft `current`; nothing is saved.
 * @param onStep called with each step before the result
 * @throws ApiProblem; an AbortError when the signal aborts
 */
export async function generateWorkflow(
  { description, model, name, current }: GenerationRequest,
  signal: AbortSignal,
  onStep: (step: GenerationStep) => void,
): Promise<GeneratedWorkflow> {
  const body = {
    description,
    ...(model !== '' && { model }),
    ...(name !== '' && { name }),
    ...(current && { current: definitionOf(current) }),
  };
  const headers = { accept: 'text/event-stream' };
  const response = await requestApi('POST', '/api/generate', { body, headers, signal });
  if (response.body) {
    for await (const { event, data } of readEvents(response.body)) {
      if (event === 'done') return JSON.parse(data) as GeneratedWorkflow;
      if (event === 'error') throw await parseProblem(data);
      onStep({ type: event, ...(JSON.parse(data) as object) } as GenerationStep);
    }
  }
  signal.throwIfAborted();
  throw new ApiProblem(0, 'The connection to the service was lost. Try again.');
}

function parseProblem(data: string): Promise<ApiProblem> {
  const { status } = JSON.parse(data) as { status: number };
  return readProblem(new Response(data, { status }));
}
