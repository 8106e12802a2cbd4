import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type InsertResult, MoreThan, type Repository, type UpdateResult } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { AppConfig, type McpEndpoint, type McpServerEntry } from '#libs/service';
import { McpServerRow } from './mcp-server-table.js';

/** MCP server that may be called: from the operator's file (`file`), or stored by a tenant (`api`). */
export interface McpServer extends McpServerEntry {
  source: 'file' | 'api';
  /** Time when the server was stored. `createdAt` and `updatedAt` are absent for servers of the operator's file. */
  createdAt?: Date;
  updatedAt?: Date;
}

/** Maximum number of MCP servers of a tenant; concurrent requests may exceed it slightly. */
export const MOST_MCP_SERVERS = 200;

/** Definition of an MCP server, as its tenant writes it. */
export interface OwnServer {
  at: McpEndpoint;
  allow?: readonly string[];
  approve?: readonly string[];
}

/**
 * Finds and stores the MCP servers that a tenant may call. A server of the operator's file is shared by all tenants,
 * and hides a tenant's server of the same name.
 */
@Injectable()
export class McpServers {
  private readonly fromFile: ReadonlyMap<string, McpServer>;

  constructor(
    { mcp }: AppConfig,
    @InjectRepository(McpServerRow) private readonly rows: Repository<McpServerRow>,
  ) {
    this.fromFile = new Map(mcp.servers.map((it) => [it.name, { ...it, source: 'file' }]));
  }

  isOfFile(name: string): boolean {
    return this.fromFile.has(name);
  }

  /** Returns all servers that the tenant may call, sorted by name. */
  async listServers(tenant: string): Promise<McpServer[]> {
    const own = (await this.rows.find({ where: { tenant } })).filter(({ name }) => !this.isOfFile(name));
    return [...this.fromFile.values(), ...own.map(toMcpServer)].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns one page of the servers that the tenant may call, sorted by name. */
  async listServerPage(tenant: string, { limit, after }: NamedPage): Promise<McpServer[]> {
    const where = { tenant, name: MoreThan(after) };
    const rows = await this.rows.find({ where, order: { name: 'ASC' }, take: limit });
    const own = rows.filter(({ name }) => !this.isOfFile(name)).map(toMcpServer);
    const ofFile = [...this.fromFile.values()].filter(({ name }) => name > after);
    return [...ofFile, ...own].toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, limit);
  }

  /** Returns the names of the servers that use a credential, sorted. */
  async namesUsingCredential(tenant: string, credential: string): Promise<string[]> {
    const all = await this.listServers(tenant);
    return all.filter(({ at }) => 'url' in at && at.auth === credential).map(({ name }) => name);
  }

  async get(tenant: string, name: string): Promise<McpServer | undefined> {
    const ofFile = this.fromFile.get(name);
    if (ofFile) return ofFile;
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? toMcpServer(row) : undefined;
  }

  /** Returns a server as `get` does, but retries while the database is unreachable. */
  async forCall(tenant: string, name: string, signal: AbortSignal): Promise<McpServer | undefined> {
    return retryWhileDatabaseDown(() => this.get(tenant, name), signal);
  }

  /**
   * Stores a new server of the tenant.
   * @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has MOST_MCP_SERVERS servers
   */
  async createServer(tenant: string, name: string, server: OwnServer): Promise<McpServer | undefined> {
    refuseMoreThan({ count: await this.rows.countBy({ tenant }), most: MOST_MCP_SERVERS, what: 'MCP servers' });
    const values = { tenant, name, ...columnsOf(server) };
    return toSavedServer(
      await this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*').execute(),
    );
  }

  /** Replaces a server of the tenant. @returns `undefined` if there is no server of this name */
  async replaceServer(tenant: string, name: string, server: OwnServer): Promise<McpServer | undefined> {
    const values = { ...columnsOf(server), updated_at: () => 'now()' };
    return toSavedServer(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Deletes a server of the tenant. @returns true if it existed */
  async delete(tenant: string, name: string): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }
}

function columnsOf({ at, allow, approve }: OwnServer): Pick<McpServerRow, 'url' | 'auth' | 'allow' | 'approve'> {
  return {
    url: at.url,
    auth: at.auth ?? null,
    allow: allow ? [...allow] : null,
    approve: approve ? [...approve] : null,
  };
}

function toMcpServer(row: McpServerRow): McpServer {
  const { name, url, auth, allow, approve } = row;
  return {
    name,
    source: 'api',
    at: { url, ...(auth !== null && { auth }) },
    ...(allow && { allow }),
    ...(approve && { approve }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/**
 * Converts the row that a statement with `RETURNING` returned; `undefined` if the statement returned no row. TypeORM
 * does not map this row, so the members have the names of the columns.
 */
function toSavedServer({ raw }: InsertResult | UpdateResult): McpServer | undefined {
  const [row] = raw as McpServerRow[];
  return row && toMcpServer(row);
}
