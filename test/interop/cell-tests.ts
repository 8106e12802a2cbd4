import { it } from 'node:test';
import { begunCell, type Cell, type Direction, type Operation, type Saying } from './cells.js';
import type { Framework } from './frameworks.js';

type At = readonly [Framework, Direction, Operation];

const filled: Cell[] = [];

/** A test that is a cell of the tables: what it says holds, whether that is good or not. */
export function cell(at: At, says: Saying, test: () => Promise<void>): void {
  const [framework, direction, operation] = at;
  it(`${framework} ${direction}, ${operation}: "${says}"`, async () => {
    const made = begunCell({ framework, direction, operation });
    filled.push(made);
    await test();
    made.says = says;
  });
}

/** A cell that no test can fill: there is nothing to call. */
export function noCell([framework, direction, operation]: At, says: `– ${string}`): void {
  it(`${framework} ${direction}, ${operation}: "${says}"`, () => {
    filled.push({ framework, direction, operation, says });
  });
}

/** Those whose tests ran. */
export function filledCells(): readonly Cell[] {
  return filled;
}
