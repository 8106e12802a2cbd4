/** The embedded PostgreSQL cannot be used as things are; the message tells the operator what to change. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal';
}
