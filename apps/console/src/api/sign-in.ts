import type { Schemas } from '#libs/client';
import { ApiProblem, readProblem, sentenceFor } from './problem.js';

/**
 * Sign-in of this page. The person signs in with an API key or at an OpenID Connect provider for the whole browser (a
 * session of the service, whose cookie no script can read), or with a key for this tab (in session storage).
 */

/** Name in session storage of the API key for this tab alone. */
const NAME = 'parley.api-key';
const PATH = '/api/session';
const OPTIONS_PATH = '/auth/options';
/** Page that a new tab opens after a sign-in at the provider; it reports the sign-in to the other tabs. */
export const SIGNED_IN_PATH = '/signed-in';

/**
 * Reason why the sign-in dialog is open.
 * - `first`: the service requires a sign-in
 * - `refused`: the service rejected the entered key
 * - `ended`: the session has ended, or its key was revoked
 * - `signed-out`: the person signed out, here or in another tab
 * - `switch`: the person wants to use another key
 */
export type SignInReason = 'first' | 'refused' | 'ended' | 'signed-out' | 'switch';

type Session = Schemas['SessionView'];

const listeners = new Set<() => void>();
let waiting: ((isSignedIn: boolean) => void)[] = [];
let reason: SignInReason = 'first';
let session: Session | undefined;
/**
 * Name of the last signed-in caller of this page. The page reloads when another caller signs in, so it never shows data
 * of the previous caller.
 */
let lastCaller: string | undefined;
let loading: Promise<void> | undefined;
let providerUrl: string | undefined;
let count = 0;
let channel: BroadcastChannel | undefined;

/** Header that proves that a request comes from a page of this origin; without it the service ignores the session. */
export const CONSOLE_HEADER = { 'x-requested-with': 'parley-console' } as const;

/** Returns the API key that this tab alone uses; `undefined` without one. */
export function sessionKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/** Returns the session of this browser; `undefined` without one, or while it is not loaded. */
export function currentSession(): Session | undefined {
  return session;
}

/** Returns the number of sign-ins on this page so far. */
export function signInCount(): number {
  return count;
}

/** True if the person has signed in, so that a sign-out is possible. */
export function isSignedIn(): boolean {
  return session !== undefined || sessionKey() !== undefined;
}

/** Loads the session of this browser, and listens for sign-ins and sign-outs in other tabs. */
export function followSession(): void {
  channel = new BroadcastChannel('parley.sign-in');
  channel.onmessage = ({ data }: MessageEvent<'signed-in' | 'signed-out'>) => {
    if (sessionKey() !== undefined || (data === 'signed-in' && session !== undefined && !isSignInWanted())) return;
    if (data === 'signed-out') return leaveSession('signed-out');
    loading = undefined;
    void loadSession().then(() => session !== undefined && resumePage());
  };
  void loadSession();
}

/** Loads the session of this browser, once. Never rejects: if the request fails, the next call sends it again. */
export function loadSession(): Promise<void> {
  loading ??= readSession().catch(() => {
    loading = undefined;
  });
  return loading;
}

async function readSession(): Promise<void> {
  if (sessionKey() !== undefined) return;
  const response = await fetch(PATH, { headers: CONSOLE_HEADER });
  if (!response.ok) return;
  const view = (await response.json()) as Session;
  if (!view.signedIn) return;
  adoptSession(view);
  // Other tabs may wait for the sign-in at the provider that led to this page.
  channel?.postMessage('signed-in');
}

/** Loads the address that begins a sign-in at a provider, if the service has one. Never rejects. */
export async function loadProvider(): Promise<void> {
  if (providerUrl !== undefined) return;
  const response = await fetch(OPTIONS_PATH).catch(() => undefined);
  if (!response?.ok) return;
  providerUrl = ((await response.json()) as Schemas['SignInOptionsView']).signInUrl;
  notifyListeners();
}

/** Returns the address of a sign-in at the provider; `undefined` without a provider, or while it is not loaded. */
export function providerAddress(): string | undefined {
  return providerUrl;
}

/**
 * Returns the address of a sign-in at the provider that leads back to a page of the console; `undefined` without a
 * provider.
 */
export function providerAddressTo(path: string): string | undefined {
  return providerUrl === undefined ? undefined : `${providerUrl}?return=${encodeURIComponent(path)}`;
}

function adoptSession(view: Session): void {
  session = view;
  const caller = JSON.stringify([view.tenant, view.caller]);
  if (lastCaller !== undefined && lastCaller !== caller) location.reload();
  lastCaller = caller;
  notifyListeners();
}

/**
 * Asks the person to sign in, in a dialog that serves all requests at once. Resolves with true after a sign-in, and
 * with false if the person declines.
 * @param used API key that the service refused, if any
 */
export function askForSignIn(used?: string): Promise<boolean> {
  if (session !== undefined && used === undefined) leaveSession('ended');
  else if (!mustSignIn() && waiting.length === 0) reason = used === undefined ? 'first' : 'refused';
  void loadProvider();
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
    notifyListeners();
  });
}

/** Asks for another API key, and reloads the page with it. If the person enters none, the current key stays. */
export async function changeKey(): Promise<void> {
  const answer = new Promise<boolean>((resolve) => (waiting = [...waiting, resolve]));
  reason = 'switch';
  notifyListeners();
  if (await answer) location.reload();
}

/** True if a text can be sent as a key: a header allows no character beyond Latin-1 and no line break. */
export function isSendable(key: string): boolean {
  try {
    return new Headers({ authorization: `Bearer ${key}` }).has('authorization');
  } catch {
    return false;
  }
}

/** Uses an API key in this tab alone. */
export function signInTab(key: string): void {
  sessionStorage.setItem(NAME, key);
  session = undefined;
  resumePage();
}

/**
 * Signs this browser in with an API key. A rejected key leaves the dialog open (`refused`).
 * @throws ApiProblem for any other failure
 */
export async function signIn(key: string): Promise<void> {
  const headers = { ...CONSOLE_HEADER, authorization: `Bearer ${key}` };
  const response = await fetch(PATH, { method: 'POST', headers }).catch(() => undefined);
  if (response === undefined) throw new ApiProblem(0, sentenceFor(0));
  if (response.status === 401) {
    reason = 'refused';
    return notifyListeners();
  }
  if (!response.ok) throw await readProblem(response);
  sessionStorage.removeItem(NAME);
  adoptSession((await response.json()) as Session);
  channel?.postMessage('signed-in');
  resumePage();
}

/**
 * Signs out: the whole browser, or this tab if it uses a key of its own.
 * @throws ApiProblem if the service cannot be reached
 */
export async function signOut(): Promise<void> {
  if (sessionKey() === undefined) {
    const response = await fetch(PATH, { method: 'DELETE', headers: CONSOLE_HEADER }).catch(() => undefined);
    if (response === undefined) throw new ApiProblem(0, sentenceFor(0));
    if (!response.ok && response.status !== 401) throw await readProblem(response);
    channel?.postMessage('signed-out');
    const ended = response.ok ? ((await response.json()) as Schemas['EndedSessionView']) : {};
    // The person also signs out at the provider, which leads back to the console.
    if (ended.providerUrl !== undefined) location.assign(ended.providerUrl);
  }
  sessionStorage.removeItem(NAME);
  leaveSession('signed-out');
}

/**
 * Closes the dialog without a sign-in. If it was open because the service refused this tab's API key, the key is
 * removed; otherwise the key stays.
 */
export function declineSignIn(): void {
  if (reason === 'refused') {
    sessionStorage.removeItem(NAME);
    loading = undefined;
    void loadSession();
  }
  answerAll(false);
}

/** True if the page must stay hidden until the next sign-in. */
export function mustSignIn(): boolean {
  return session === undefined && (reason === 'ended' || reason === 'signed-out');
}

/** True if the sign-in dialog is open. */
export function isSignInWanted(): boolean {
  return waiting.length > 0 || mustSignIn();
}

/** Returns the reason why the dialog is open. */
export function signInReason(): SignInReason {
  return reason;
}

/**
 * Calls the listener whenever a sign-in is requested, made or ended.
 * @returns a function that removes the listener
 */
export function onSignInChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function leaveSession(why: 'ended' | 'signed-out'): void {
  session = undefined;
  reason = why;
  void loadProvider();
  notifyListeners();
}

/** Closes the dialog and resolves all pending `askForSignIn` with true, so that their callers send requests again. */
function resumePage(): void {
  count += 1;
  reason = 'first';
  answerAll(true);
}

function answerAll(isSignedIn: boolean): void {
  const answered = waiting;
  waiting = [];
  for (const resolve of answered) resolve(isSignedIn);
  notifyListeners();
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}
