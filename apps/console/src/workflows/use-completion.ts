import { type KeyboardEvent, type RefObject, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ReferenceCompletion } from './templates.js';

/** Completes words in a text. */
export interface Completer {
  /** Returns the completions of the word before the caret. */
  at: (text: string, caret: number) => ReferenceCompletion | undefined;
  /** Inserts a word, and returns the text with the new caret. */
  put: (text: string, caret: number, from: number, word: string) => { text: string; caret: number };
}

export interface Completing {
  /** Words that match the typed text. */
  candidates: readonly string[];
  /** Index of the candidate that Enter takes. */
  active: number;
  /** Updates the candidates after a change of the text. */
  look: (text: string, caret: number) => void;
  take: (word: string) => void;
  press: (event: KeyboardEvent) => void;
  close: () => void;
}

/** Suggests words in a text area while the person types. */
export function useCompletion(
  area: RefObject<HTMLTextAreaElement | null>,
  completer: Completer,
  onChange: (text: string) => void,
): Completing {
  const [open, setOpen] = useState<ReferenceCompletion>();
  const [active, setActive] = useState(0);
  const candidates = open?.candidates ?? [];
  const close = (): void => setOpen(undefined);
  const look = (text: string, caret: number): void => {
    setOpen(completer.at(text, caret));
    setActive(0);
  };
  const take = (word: string): void => {
    if (!open || !area.current) return;
    const { value, selectionStart } = area.current;
    const next = completer.put(value, selectionStart, open.from, word);
    // Flush synchronously: a key in the same frame must come after the word.
    flushSync(() => {
      onChange(next.text);
      close();
    });
    area.current.focus();
    area.current.setSelectionRange(next.caret, next.caret);
  };
  const press = (event: KeyboardEvent): void => {
    const chosen = candidates[active];
    if (chosen === undefined) return;
    if (event.key === 'ArrowDown') setActive((active + 1) % candidates.length);
    else if (event.key === 'ArrowUp') setActive((active + candidates.length - 1) % candidates.length);
    else if (event.key === 'Enter' || event.key === 'Tab') take(chosen);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  return { candidates, active, look, take, press, close };
}
