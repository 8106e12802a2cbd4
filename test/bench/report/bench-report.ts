import type { Facts, FactTable, Row } from '../comparison.ts';
import type { BenchOptions } from '../options.ts';

/** Everything that one run found. */
export interface Report {
  options: BenchOptions;
  startedAt: Date;
  seconds: number;
  rows: Row[];
  tables: FactTable[];
  facts: Partial<Facts>;
  notes: string[];
  /** A case could not be carried out, or lost something. */
  failed: boolean;
}
