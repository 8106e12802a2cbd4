interface Guard {
  /** Address that the person leaves only after a confirmation. */
  path: string;
  /** Asks the person whether the address may be left. */
  leaves: () => boolean;
}

let guard: Guard | undefined;

// Listeners run in the order of registration: this module loads before anything is rendered by the address.
addEventListener('popstate', (event) => {
  if (guard === undefined || location.pathname === guard.path || guard.leaves()) return;
  // The address has already changed; stop the event so that no other listener sees it.
  event.stopImmediatePropagation();
  history.pushState(null, '', guard.path);
});

/**
 * Prevents the back and forward buttons from leaving an address unless `leaves` returns true.
 * @returns a function that ends the guard
 */
export function guardHistory(path: string, leaves: () => boolean): () => void {
  const mine = { path, leaves };
  guard = mine;
  return () => {
    if (guard === mine) guard = undefined;
  };
}
