import type { Facts, FactTable, Row } from '../comparison.ts';
import type { BenchOptions } from '../options.ts';

/** Results of one run of the benchmark. */
export interface Report {
  options: BenchOptions;
  startedAt: Date;
  seconds: number;
  rows: Row[];
  tables: FactTable[];
  facts: Partial<Facts>;
  notes: string[];
  /** True if a case could not be executed, or lost something. */
  failed: boolean;
}
