import { useEffect, useEffectEvent, useState } from 'react';
import type { Position } from '../../graph/graph.js';
import { removeParts } from '../draft-parts.js';
import { isOverlayOpen, isTyping } from '../keys/is-typing.js';
import type { DraftEditing } from '../use-draft.js';
import type { Selection } from '../use-selection.js';
import { clipText, copyPart, pastePart, readClip, UnusableClip } from './clip.js';

/** Message about the last action of the clipboard. */
interface ClipNotice {
  text: string;
  isError: boolean;
}

export interface Clipboard {
  copy: () => Promise<void>;
  cut: () => Promise<void>;
  /** Pastes at a position on the canvas; without a position, beside the originals. */
  paste: (at?: Position) => Promise<void>;
  duplicate: () => void;
  notice: ClipNotice | undefined;
  dismiss: () => void;
}

/** Text that was copied last in this tab, for a browser that denies the clipboard. */
let keptText: string | undefined;

const DENIED = 'The browser denies reading the clipboard. Press Ctrl+V to paste.';

/**
 * Copies, cuts, pastes and duplicates the selected nodes and notes. Ctrl+C, Ctrl+X and Ctrl+V need no permission of the
 * browser. The context menu and the command palette use the clipboard of the system if the browser allows it, and
 * otherwise the text that this tab copied last.
 */
export function useClipboard({ draft, change }: DraftEditing, selection: Selection): Clipboard {
  const [notice, setNotice] = useState<ClipNotice>();
  const say = (text: string, isError = false): void => setNotice({ text, isError });
  const hasParts = selection.nodes.size + selection.notes.size > 0;
  const copiedText = (): string => (keptText = clipText(copyPart(draft, selection)));
  const removeSelected = (): void => {
    change((last) => removeParts(last, selection));
    selection.selectNode(undefined);
  };
  const insert = (text: string, at?: Position): void => {
    const pasted = attempt(
      () => pastePart(draft, readClip(text), at),
      (fault) => say(fault, true),
    );
    if (!pasted) return;
    change(() => pasted.draft);
    selection.selectParts({ nodes: new Set(pasted.nodes), notes: new Set(pasted.notes) });
    say(`${countParts(pasted.nodes.length, pasted.notes.length)} pasted`);
  };
  const copy = async (): Promise<boolean> => {
    if (!hasParts) return false;
    const isShared = await writeClipboard(copiedText());
    const parts = countParts(selection.nodes.size, selection.notes.size);
    say(isShared ? `${parts} copied` : `${parts} copied for this tab. For other tabs, press Ctrl+C.`);
    return true;
  };
  useClipboardEvents({
    copiedText: () => (hasParts ? copiedText() : undefined),
    onCut: removeSelected,
    onPaste: (text) => insert(text),
  });
  return {
    copy: async () => void (await copy()),
    cut: async () => {
      if (await copy()) removeSelected();
    },
    paste: async (at) => {
      const text = (await readClipboard()) ?? keptText;
      if (text === undefined) say(DENIED, true);
      else insert(text, at);
    },
    duplicate: () => hasParts && insert(clipText(copyPart(draft, selection))),
    notice,
    dismiss: () => setNotice(undefined),
  };
}

interface ClipboardHandlers {
  /** Returns the text of the selected parts; `undefined` if nothing is selected. */
  copiedText: () => string | undefined;
  onCut: () => void;
  onPaste: (text: string) => void;
}

/** Handles the browser's events of copying, cutting and pasting outside of fields. */
function useClipboardEvents({ copiedText, onCut, onPaste }: ClipboardHandlers): void {
  const handle = useEffectEvent((event: ClipboardEvent): void => {
    if (isTyping(event.target) || isTyping(document.activeElement) || isOverlayOpen() || !event.clipboardData) return;
    if (event.type === 'paste') {
      event.preventDefault();
      return onPaste(event.clipboardData.getData('text/plain'));
    }
    const hasMarkedText = getSelection()?.isCollapsed === false;
    const text = hasMarkedText ? undefined : copiedText();
    if (text === undefined) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', text);
    if (event.type === 'cut') onCut();
  });
  useEffect(() => {
    const listener = (event: ClipboardEvent): void => handle(event);
    const types = ['copy', 'cut', 'paste'] as const;
    for (const type of types) document.addEventListener(type, listener);
    return () => types.forEach((type) => document.removeEventListener(type, listener));
  }, []);
}

/**
 * Returns the result of an action. If the action throws UnusableClip, calls `report` with the error's message and
 * returns `undefined`; any other error is rethrown.
 */
function attempt<T>(action: () => T, report: (fault: string) => void): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof UnusableClip)) throw error;
    report(error.message);
    return undefined;
  }
}

/** Writes to the clipboard of the system. Returns false if the browser denies it. */
async function writeClipboard(text: string): Promise<boolean> {
  try {
    // A page without TLS has no `navigator.clipboard`.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads the clipboard of the system; `undefined` if the browser denies it. */
async function readClipboard(): Promise<string | undefined> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return undefined;
  }
}

function countParts(nodes: number, notes: number): string {
  const counts = [
    [nodes, 'node'],
    [notes, 'note'],
  ] as const;
  const words = counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`]));
  return words.join(' and ');
}
