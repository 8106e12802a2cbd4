import { type KeyboardEvent, type RefObject, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Completion } from './templates.js';

/** Knows what may stand in a text. */
export interface Completer {
  /** What the word that is typed before the caret may become. */
  at: (text: string, caret: number) => Completion | undefined;
  /** The text with a word put in, and where the caret is then. */
  put: (text: string, caret: number, from: number, word: string) => { text: string; caret: number };
}

export interface Completing {
  /** The words that fit what is typed, while there are some. */
  candidates: readonly string[];
  /** Which of them Enter takes. */
  active: number;
  /** After a change of the text. */
  look: (text: string, caret: number) => void;
  take: (word: string) => void;
  press: (event: KeyboardEvent) => void;
  close: () => void;
}

/** Completes words in a text area while they are typed. */
export function useCompletion(
  area: RefObject<HTMLTextAreaElement | null>,
  completer: Completer,
  onChange: (text: string) => void,
): Completing {
  const [open, setOpen] = useState<Completion>();
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
    // At once: a key that follows in the same frame belongs behind the word.
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
