import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { onSignInChange, signInCount } from '../api/sign-in.js';
import { useLive } from '../api/use-live.js';
import { changesQuestions, countQuestions } from './inbox-api.js';

/** Minimum milliseconds between two counts. */
const SPACING_MS = 1_000;
const QUERY_KEY = ['waiting-count'];

/** Returns the number of pending questions as a short text; `undefined` while this page cannot read them. */
export function useWaitingCount(): string | undefined {
  const signIns = useSyncExternalStore(onSignInChange, signInCount);
  const { data } = useQuery({
    queryKey: [...QUERY_KEY, signIns],
    queryFn: ({ signal }) => countQuestions(signal),
  });
  return data;
}

/** Keeps the number of pending questions up to date while it is mounted; shows nothing. */
export function WaitingCountUpdates() {
  useLive(QUERY_KEY, { streams: ['run'] }, { concerns: changesQuestions, spacing: SPACING_MS });
  return null;
}
