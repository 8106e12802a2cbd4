import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { createMarkMigration } from '#libs/configuration';

@Entity('mcp_server')
export class McpServerRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') url!: string;
  /** Name of the stored credential for calls. */
  @Column('text', { nullable: true }) auth!: string | null;
  @Column('text', { array: true, nullable: true }) allow!: string[] | null;
  @Column('text', { array: true, nullable: true }) approve!: string[] | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  /**
   * Mark (label) of the source from which this server was last written by the command `apply`, such as a folder of
   * files; null if it never was.
   */
  @Column('text', { nullable: true }) mark!: string | null;
}

/**
 * Creates the tables of the MCP servers of tenants, and of the tools of all servers: the pinned list, and a differing
 * list that the server sent last.
 */
class CreateMcpServer1700000000960 implements MigrationInterface {
  readonly name = 'CreateMcpServer1700000000960';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp_server (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        url text NOT NULL,
        auth text COLLATE "C",
        allow text[],
        approve text[],
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, name)
      )`);
    // json, not jsonb: tools are stored as the server sent them, with characters that jsonb rejects.
    await runner.query(`
      CREATE TABLE mcp_tool_pin (
        tenant text COLLATE "C" NOT NULL,
        server text COLLATE "C" NOT NULL,
        hash text COLLATE "C" NOT NULL,
        tools json NOT NULL,
        -- What was seen since and waits to be accepted.
        seen_hash text COLLATE "C",
        seen_tools json,
        first_seen_at timestamptz NOT NULL DEFAULT now(),
        changed_at timestamptz,
        accepted_at timestamptz,
        accepted_by text,
        PRIMARY KEY (tenant, server)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp_tool_pin');
    await runner.query('DROP TABLE mcp_server');
  }
}

export const MCP_MIGRATIONS = [
  CreateMcpServer1700000000960,
  createMarkMigration('mcp_server', 'MarkMcpServer1700000001401'),
];
