import { useEffect, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { loadProvider, providerAddressTo } from '../api/sign-in.js';
import { buttonClass } from '../components/button.js';
import { EmptyState } from '../components/empty-state.js';
import { usePageTitle } from '../components/page-title.js';

const ANSWER = 'The answer of your account’s provider could not be verified. The log of the service says why.';

/** Sentences for the reasons with which the service reports a failed sign-in. */
const SENTENCES: Readonly<Record<string, string>> = {
  'provider-away': 'The provider of your account cannot be reached at the moment. Try again later.',
  refused: 'The provider of your account refused the sign-in.',
  expired: 'The sign-in took too long, was begun in another browser, or was completed before. Begin again.',
  invalid: ANSWER,
  'no-name': 'Your account lacks the name or the organization by which this service knows people.',
  'no-role': 'Your account has no role that may use this service. Ask its operator for one.',
  busy: 'Too many people sign in at the moment. Try again in a minute.',
};

/** Explains why a sign-in at the provider failed, and offers to begin again. */
export function SignInFailed() {
  usePageTitle(['Sign-in failed']);
  const [parameters] = useSearchParams();
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => void loadProvider().then(() => setLoaded(true)), []);
  const address = isLoaded ? providerAddressTo(parameters.get('return') ?? '/') : undefined;
  return (
    <EmptyState
      title="You are not signed in"
      action={
        address !== undefined && (
          <a href={address} className={buttonClass('primary')}>
            Sign in again
          </a>
        )
      }
    >
      {SENTENCES[parameters.get('reason') ?? ''] ?? ANSWER}
    </EmptyState>
  );
}

/** Shows that a sign-in has succeeded. Another tab opened this tab for the sign-in, and continues its own work now. */
export function SignedIn() {
  usePageTitle(['Signed in']);
  return (
    <EmptyState
      title="You are signed in"
      action={
        <Link href="/workflows" className={buttonClass('primary')}>
          Continue here
        </Link>
      }
    >
      The other tab continues where you left it. You can close this one.
    </EmptyState>
  );
}
