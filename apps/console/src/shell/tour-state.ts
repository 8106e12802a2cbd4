import { useSyncExternalStore } from 'react';

/** Key in local storage: the step of the tour, or `done` once it was finished or skipped. */
const NAME = 'parley.tour';
const DONE = 'done';
const listeners = new Set<() => void>();

/** Step of the tour: its view, and a sentence or two about the view. */
export interface TourStep {
  path: string;
  title: string;
  text: string;
}

export const TOUR: readonly TourStep[] = [
  {
    path: '/workflows',
    title: 'Workflows',
    text: 'A workflow is a graph of agents. Begin with a template, which runs at once, or draw one.',
  },
  {
    path: '/runs',
    title: 'Runs',
    text: 'A run is live: its graph shows which node works, waits or has failed, and what each node answered.',
  },
  {
    path: '/inbox',
    title: 'Inbox',
    text: 'If a run asks a person, its question waits here. The number beside Inbox counts the questions.',
  },
  {
    path: '/agents',
    title: 'Agents',
    text: 'Each workflow and each node is an agent. Read its card, or talk with it in its playground.',
  },
  {
    path: '/settings',
    title: 'Settings',
    text: 'Add a model, and test it before you save it. The question mark beside a title opens the help for its page.',
  },
];

/** Returns the step of the tour, from 0; `undefined` if the tour is not under way. */
export function useTourStep(): number | undefined {
  const kept = useSyncExternalStore(subscribeToTour, readTour);
  const step = kept === null || kept === DONE ? Number.NaN : Number(kept);
  return Number.isInteger(step) && step in TOUR ? step : undefined;
}

/** True if the tour was neither begun nor finished nor skipped in this browser. */
export function useOffersTour(): boolean {
  return useSyncExternalStore(subscribeToTour, readTour) === null;
}

/** Goes to a step of the tour. After the last step, the tour is done, and is not offered again. */
export function goToTourStep(step: number): void {
  keepTour(step in TOUR ? String(step) : DONE);
}

/** Ends the tour, which is not offered again. */
export function endTour(): void {
  keepTour(DONE);
}

function keepTour(value: string): void {
  localStorage.setItem(NAME, value);
  for (const listener of listeners) listener();
}

function readTour(): string | null {
  return localStorage.getItem(NAME);
}

function subscribeToTour(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
