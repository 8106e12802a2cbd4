import { useEffect, useEffectEvent } from 'react';
import { type EditorCommands, isShortcut } from './editor-commands.js';
import { isOverlayOpen, isTyping } from './is-typing.js';

/** Runs the commands of the editor by their keys. Keys in a field, a dialog or a menu keep their own meaning. */
export function useEditorKeys(commands: EditorCommands): void {
  const handleKey = useEffectEvent((event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || isOverlayOpen()) return;
    const isInField = isTyping(event.target);
    for (const { shortcuts, isDisabled, run } of Object.values(commands)) {
      const found = shortcuts.find((shortcut) => !shortcut.isNative && isShortcut(event, shortcut));
      if (!found || (isInField && !found.isInFields)) continue;
      event.preventDefault();
      if (!isDisabled) run();
      return;
    }
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => handleKey(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}
