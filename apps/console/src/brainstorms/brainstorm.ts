import type { Schemas } from '#libs/client';

export type Brainstorm = Schemas['BrainstormView'];
export type BrainstormSummary = Schemas['BrainstormSummary'];
export type BrainstormStatusName = Brainstorm['status'];
export type StateSource = Schemas['SourceView'];
export type BrainstormRisk = Schemas['RiskView'];
export type PassAgent = Schemas['PassAgentView'];
export type BrainstormPass = Schemas['PassView'];

export const STATUSES: readonly BrainstormStatusName[] = ['active', 'converged', 'approved', 'failed', 'canceled'];

export const ROLES: readonly PassAgent['role'][] = ['build', 'review', 'refine', 'devils_advocate'];

/** Returns which actions a person may take on a brainstorm now. */
export function actionsOf({ status, iteration }: Brainstorm): { iterate: boolean; approve: boolean; cancel: boolean } {
  const ended = status === 'approved' || status === 'canceled';
  return { iterate: status === 'converged' || status === 'failed', approve: !ended && iteration > 0, cancel: !ended };
}

export function roleLabel(role: string): string {
  return role === 'devils_advocate' ? "devil's advocate" : role.replaceAll('_', ' ');
}

/** Returns a sentence about the progress of a brainstorm, or about its end. */
export function describeStanding({ status, iteration, maxIterations, passes, convergence, error }: Brainstorm): string {
  if (error) return error.agent === undefined ? error.message : `${error.agent}: ${error.message}`;
  if (convergence !== undefined) return convergence;
  if (status === 'approved') return `Approved after iteration ${iteration}.`;
  if (status === 'canceled') return `Canceled after ${iteration} complete iterations.`;
  const pass = passes.at(-1);
  const busy = pass?.agents.find((agent) => agent.status === 'running');
  if (busy && pass) return `Iteration ${pass.iteration} of at most ${maxIterations}: ${busy.agent} is at work.`;
  return `${iteration} of at most ${maxIterations} iterations are complete.`;
}
