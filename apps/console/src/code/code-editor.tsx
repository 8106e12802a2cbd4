import { EditorView } from '@codemirror/view';
import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { CodeSettings } from './code.js';
import { createEditorState, type EditorLook, showLook } from './editor-state.js';
import { setMarks } from './marks.js';

export interface CodeEditorProps extends CodeSettings {
  id: string;
  /** Id of the element that labels the field. */
  labelId: string;
}

/**
 * Shows an editor of code. If the page sets another `value` than the typed text, the editor shows that value and starts
 * a new undo history.
 */
export function CodeEditor(props: CodeEditorProps) {
  const { id, labelId, value, language, placeholder, invalid, words, numbered, marks, rows } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  /** Last text that was both in the editor and in `value`. A different `value` was set by the page, not typed. */
  const agreed = useRef(value);
  const look = useMemo<EditorLook>(
    () => ({ id, labelId, language, placeholder, invalid: invalid ?? false, words, numbered: numbered ?? false }),
    [id, labelId, language, placeholder, invalid, words, numbered],
  );
  const change = useEffectEvent((text: string) => {
    agreed.current = text;
    // Flush synchronously: the next key must meet a page that knows this text.
    flushSync(() => props.onChange(text));
  });
  const suggest = useEffectEvent((text: string, caret: number, explicit: boolean) =>
    props.suggest?.(text, caret, explicit),
  );
  const createState = useEffectEvent(() => createEditorState(value, look, { onChange: change, suggest }));

  useLayoutEffect(() => {
    if (!host.current) return undefined;
    const view = new EditorView({ parent: host.current, state: createState() });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useLayoutEffect(() => {
    if (value === agreed.current) return;
    agreed.current = value;
    const view = editor.current;
    if (!view) return;
    const caret = view.state.selection.main.head;
    view.setState(createState());
    view.dispatch({ selection: { anchor: Math.min(caret, view.state.doc.length) } });
  }, [value]);
  useLayoutEffect(() => {
    if (editor.current) showLook(editor.current, look);
  }, [look]);
  useLayoutEffect(() => {
    if (marks) editor.current?.dispatch({ effects: setMarks.of(marks) });
  }, [marks]);
  useEffect(() => {
    const label = document.getElementById(labelId);
    const focus = (): void => editor.current?.focus();
    label?.addEventListener('click', focus);
    return () => label?.removeEventListener('click', focus);
  }, [labelId]);
  return <div ref={host} style={{ '--code-rows': rows } as React.CSSProperties} />;
}
