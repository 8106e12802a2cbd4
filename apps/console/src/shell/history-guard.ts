interface Guard {
  /** The address that is not to be left. */
  path: string;
  /** Whether it may be left all the same. */
  leaves: () => boolean;
}

let guard: Guard | undefined;

// Whoever listens first hears of it first: this is loaded before anything is rendered by the address.
addEventListener('popstate', (event) => {
  if (guard === undefined || location.pathname === guard.path || guard.leaves()) return;
  // The address has changed by now; nobody else hears of it.
  event.stopImmediatePropagation();
  history.pushState(null, '', guard.path);
});

/** Keeps the history from leaving an address unless that is agreed to. Gives what ends this. */
export function guardHistory(path: string, leaves: () => boolean): () => void {
  const mine = { path, leaves };
  guard = mine;
  return () => {
    if (guard === mine) guard = undefined;
  };
}
