/** Undo history of a value: earlier values, the present value, and undone values. */
export interface History<T> {
  past: readonly T[];
  present: T;
  future: readonly T[];
  /** Subject of the last change. A further change with the same subject is part of the same undo step. */
  about?: string | undefined;
}

const LONGEST = 200;

export function historyOf<T>(present: T): History<T> {
  return { past: [], present, future: [] };
}

/** Records a change. Changes with the same subject, such as the letters of a field, are undone together. */
export function recordChange<T>(history: History<T>, next: T, about?: string): History<T> {
  if (next === history.present) return history;
  const continues = about !== undefined && about === history.about && history.past.length > 0;
  const past = continues ? history.past : [...history.past, history.present].slice(-LONGEST);
  return { past, present: next, future: [], about };
}

export function undoChange<T>({ past, present, future }: History<T>): History<T> {
  const last = past.at(-1);
  if (last === undefined) return { past, present, future };
  return { past: past.slice(0, -1), present: last, future: [present, ...future] };
}

export function redoChange<T>({ past, present, future }: History<T>): History<T> {
  const [next, ...rest] = future;
  if (next === undefined) return { past, present, future };
  return { past: [...past, present], present: next, future: rest };
}
