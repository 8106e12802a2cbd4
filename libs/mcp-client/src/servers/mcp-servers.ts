import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type InsertResult, MoreThan, type Repository, type UpdateResult } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { AppConfig, type McpEndpoint, type McpServerEntry } from '#libs/service';
import { McpServerRow } from './mcp-server-table.js';

/** Server that may be called: from the operator's file, or named by a tenant. */
export interface McpServer extends McpServerEntry {
  source: 'file' | 'api';
  /** Time of creation; absent for servers of the file, as is `updatedAt`. */
  createdAt?: Date;
  updatedAt?: Date;
}

export function isProgram({ at }: Pick<McpServer, 'at'>): boolean {
  return 'command' in at;
}

/** Maximum number of MCP servers of a tenant; concurrent requests may exceed it slightly. */
export const MOST_MCP_SERVERS = 200;

/** Server definition of a tenant. */
export interface OwnServer {
  at: McpEndpoint;
  allow?: readonly string[];
  approve?: readonly string[];
}

/** Servers that a tenant may call: those of the operator's file, which all tenants share, before its own. */
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

  /** Returns all servers, sorted by name. */
  async listServers(tenant: string): Promise<McpServer[]> {
    const own = (await this.rows.find({ where: { tenant } })).filter(({ name }) => !this.isOfFile(name));
    return [...this.fromFile.values(), ...own.map(toMcpServer)].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns one page of all servers, sorted by name. */
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

  /** Returns a server as `get` does, but waits for an unreachable database. */
  async forCall(tenant: string, name: string, signal: AbortSignal): Promise<McpServer | undefined> {
    return retryWhileDatabaseDown(() => this.get(tenant, name), signal);
  }

  /**
   * Stores a new server. @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has as many as it may
   */
  async createServer(tenant: string, name: string, server: OwnServer): Promise<McpServer | undefined> {
    refuseMoreThan({ count: await this.rows.countBy({ tenant }), most: MOST_MCP_SERVERS, what: 'MCP servers' });
    const values = { tenant, name, ...columnsOf(server) };
    return toSavedServer(
      await this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*').execute(),
    );
  }

  /** Replaces a server. @returns `undefined` if there is none of the name */
  async replaceServer(tenant: string, name: string, server: OwnServer): Promise<McpServer | undefined> {
    const values = { ...columnsOf(server), updated_at: () => 'now()' };
    return toSavedServer(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Deletes a server. @returns true if it existed */
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

/** Converts a returned row. TypeORM leaves it unchanged, so its members are named as the columns. */
function toSavedServer({ raw }: InsertResult | UpdateResult): McpServer | undefined {
  const [row] = raw as McpServerRow[];
  return row && toMcpServer(row);
}
