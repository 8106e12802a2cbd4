import { textStart } from '#libs/protocol';
import type { RunSummary } from './run.dto.js';

/** Maximum characters of a cell, which is less than a spreadsheet takes (32,767). */
const LONGEST_CELL = 32_000;
/** Beginnings of a cell that a spreadsheet takes for a formula, also in the full-width forms of = + - @. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

const COLUMNS: readonly (readonly [title: string, value: (run: RunSummary) => string | undefined])[] = [
  ['runId', ({ runId }) => runId],
  ['workflow', ({ workflow }) => workflow],
  ['revision', ({ revision }) => revision],
  ['status', ({ status }) => status],
  ['createdAt', ({ createdAt }) => createdAt],
  ['updatedAt', ({ updatedAt }) => updatedAt],
  ['durationMs', durationOf],
  ['errorKind', ({ error }) => error?.kind],
  ['errorNode', ({ error }) => error?.instance ?? error?.node],
  ['error', ({ error }) => error?.message],
  ['inputs', ({ inputs }) => JSON.stringify(inputs)],
  ['inputTokens', ({ usage }) => usage?.inputTokens?.toString()],
  ['outputTokens', ({ usage }) => usage?.outputTokens?.toString()],
  ['cost', ({ usage }) => usage?.cost],
];

/** First line of an export of runs. */
export const CSV_HEAD = toLine(COLUMNS.map(([title]) => title));

/** Returns the line of a run in an export (RFC 4180). */
export function csvLine(run: RunSummary): string {
  return toLine(COLUMNS.map(([, value]) => value(run) ?? ''));
}

function toLine(cells: readonly string[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

/**
 * Quotes a cell of the CSV file. If a spreadsheet would execute the text as a formula, an apostrophe is put before it.
 */
function toCell(text: string): string {
  const short = text.length > LONGEST_CELL ? `${textStart(text, LONGEST_CELL)}…` : text;
  const plain = FORMULA.test(short) ? `'${short}` : short;
  return `"${plain.replaceAll('"', '""')}"`;
}

/** Returns the duration of an ended run; `undefined` for any other run. */
function durationOf({ status, createdAt, updatedAt }: RunSummary): string | undefined {
  if (status === 'running' || status === 'input-required') return undefined;
  return String(Date.parse(updatedAt) - Date.parse(createdAt));
}
