import { type KeyboardEvent, type RefObject, useState } from 'react';
import { complete, type Completion, completionAt } from './templates.js';

export interface Completing {
  /** The nodes that fit what is typed, while there are some. */
  candidates: readonly string[];
  /** Which of them Enter takes. */
  active: number;
  /** After a change of the text. */
  look: (text: string, caret: number) => void;
  take: (id: string) => void;
  press: (event: KeyboardEvent) => void;
  close: () => void;
}

/** Completes `{{references}}` in a text area while they are typed. */
export function useCompletion(
  area: RefObject<HTMLTextAreaElement | null>,
  ids: readonly string[],
  onChange: (text: string) => void,
): Completing {
  const [open, setOpen] = useState<Completion>();
  const [active, setActive] = useState(0);
  const candidates = open?.candidates ?? [];
  const close = (): void => setOpen(undefined);
  const look = (text: string, caret: number): void => {
    setOpen(completionAt(text, caret, ids));
    setActive(0);
  };
  const take = (id: string): void => {
    if (!open || !area.current) return;
    const { value, selectionStart } = area.current;
    const next = complete(value, selectionStart, open.from, id);
    onChange(next.text);
    close();
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(next.caret, next.caret);
    });
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
