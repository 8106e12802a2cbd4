/** Reports that the embedded PostgreSQL cannot be used; the message tells the operator what to change. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal';
}
