const BYTE_UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1024,
  kib: 1024,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
};
const SECOND_UNITS: Record<string, number> = { '': 1000, s: 1000, ms: 1, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses bytes such as `4194304`, `512kb` or `4 MiB`; all units are powers of 1024. Returns `undefined` for other text.
 */
export function parseBytes(text: string): number | undefined {
  return parseQuantity(text, BYTE_UNITS);
}

/**
 * Parses milliseconds from `20` (seconds), `20s`, `500ms`, `2m`, `12h` or `30d`. Returns `undefined` for other text.
 */
export function parseDuration(text: string): number | undefined {
  return parseQuantity(text, SECOND_UNITS);
}

function parseQuantity(text: string, units: Record<string, number>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = match && units[match[2]!.toLowerCase()];
  return match && unit ? Math.round(Number(match[1]) * unit) : undefined;
}
