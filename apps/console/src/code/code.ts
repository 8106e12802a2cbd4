/** Languages that a field of code can highlight. `text` has `{{references}}`, `template` also `${expressions}`. */
export type CodeLanguage = 'expression' | 'json' | 'template' | 'text';

/** A problem in a text, shown at the word where it begins. */
export interface CodeMark {
  /** Offset in the text, in UTF-16 code units. */
  offset: number;
  /** Description of the problem, as a sentence for the person. */
  detail: string;
  severity: 'error' | 'warning';
}

/** A word that can complete a text. */
export interface SuggestedWord {
  label: string;
  /** Text to insert; the label by default. */
  text?: string;
  /** True for a word that is listed after the others, under the heading `SuggestedWords.apart`. */
  apart?: boolean;
}

/** Words that can replace a part of a text around the caret. */
export interface SuggestedWords {
  /** Offset of the first character of the replaced part. */
  from: number;
  /** Offset at which the replaced part ends. */
  to: number;
  /** Words in the order of the list; those that are `apart` come last. */
  words: readonly SuggestedWord[];
  /** Heading above the words that are listed last (`SuggestedWord.apart`). */
  apart?: string;
}

/**
 * Returns the words to suggest to a person whose caret is at an offset of a text; `undefined` if there are none.
 * @param explicit true if the person asked for the words by a key
 */
export type SuggestWords = (text: string, caret: number, explicit: boolean) => SuggestedWords | undefined;

/** Settings of a field of code. */
export interface CodeSettings {
  value: string;
  language: CodeLanguage;
  /** Height of an empty field, as a number of lines. */
  rows: number;
  onChange: (value: string) => void;
  placeholder?: string | undefined;
  /** True if the field is marked as invalid. */
  invalid?: boolean;
  /** Problems in the value; `undefined` leaves the marks as they are, because the value is not checked yet. */
  marks?: readonly CodeMark[] | undefined;
  suggest?: SuggestWords;
  /** Name of the list of suggested words, for screen readers. */
  words?: string;
  /** True to show line numbers. */
  numbered?: boolean;
}
