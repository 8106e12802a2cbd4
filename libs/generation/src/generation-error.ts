import { ProblemError } from '#libs/http';
import type { ModelError } from '#libs/models';
import { LONGEST_MS } from './generation-limits.js';

const FAILED = 'GENERATION_FAILED';

/** Returns the problem that no model is available. */
export function noModel(detail = 'Set LLM_BASE_URL or add a model under /api/models.'): ProblemError {
  return new ProblemError(422, detail, [], 'NO_MODEL');
}

/** Returns the problem of a model that does not exist, or has to be named. */
export function refusedModel(detail: string): ProblemError {
  return new ProblemError(422, detail, [{ path: 'model', detail }]);
}

/** Returns the problem of a failed model, whose message has the provider's status. */
export function failedModel(error: ModelError, isNamed: boolean): ProblemError {
  // The endpoint of `LLM_BASE_URL` has its own list of models.
  if (isNamed && error.status === 404) return refusedModel(error.message);
  return new ProblemError(502, error.message, [], 'MODEL_FAILED');
}

/** Returns the problem of an answer that is not a definition. */
export function unusableAnswer(model: string, fault: string): ProblemError {
  return new ProblemError(502, `model "${model}" ${fault}`, [], FAILED);
}

/** Returns the problem of a request that exceeded its time limit. */
export function tooSlow(): ProblemError {
  return new ProblemError(504, `The model was not done after ${LONGEST_MS / 1000} seconds`, [], FAILED);
}
