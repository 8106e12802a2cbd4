import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '#libs/service';
import type { ToolList } from './tool-listing.js';
import { type KnownTool, knownTools, type ToolChange, toolChanges, type ToolPin, ToolPins } from './tool-pins.js';

/** Last known state of the tools of a server. */
export interface KnownServer {
  /** Hash of the list of tools that the server sent last. */
  hash: string;
  tools: KnownTool[];
  /** Changes since the pin; empty if none waits to be accepted. */
  changes: ToolChange[];
  pin: ToolPin;
}

const MAX_ROUNDS = 50;
const SHOWN_TOOLS = 20;

/**
 * Compares the tools that a server lists with the pinned tools, and applies `MCP_CHANGE_POLICY` (`allow`, `warn`,
 * `block`). A changed description counts as a change, as descriptions instruct the model.
 */
@Injectable()
export class ToolWatch {
  private readonly logger = new Logger(ToolWatch.name);
  private readonly policy;

  constructor(
    private readonly pins: ToolPins,
    { mcp }: AppConfig,
  ) {
    this.policy = mcp.changes;
  }

  /**
   * Compares a list with the pin, records a difference, and returns the resulting state. If another replica changes the
   * pin meanwhile, compares again.
   * @throws Error if that happens 50 times in a row
   */
  async compareSeen(tenant: string, server: string, list: ToolList): Promise<KnownServer> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const pin = await this.pins.findPin(tenant, server);
      if (!pin) await this.pins.pinFirst(tenant, server, list);
      else if (pin.hash === list.hash) {
        if (pin.seen) await this.pins.seenAgain(tenant, server, pin.hash);
        const { seen: _seen, ...pinned } = pin;
        return this.toKnownServer(pinned);
      } else if (pin.seen?.hash === list.hash) return this.toKnownServer(pin);
      else {
        const accepted = this.policy === 'allow';
        const noted = accepted
          ? await this.pins.replacePin(tenant, server, pin.hash, list)
          : await this.pins.noteSeen(tenant, server, pin.hash, list);
        if (noted) this.reportChanges(tenant, server, pin, list);
      }
    }
    throw new Error(`The tools of the MCP server ${server} are changing too often to be compared`);
  }

  /** Returns the last known state of an unreachable server; `undefined` if it was never seen. */
  async recallServer(tenant: string, server: string): Promise<KnownServer | undefined> {
    const pin = await this.pins.findPin(tenant, server);
    return pin && this.toKnownServer(pin);
  }

  private toKnownServer(pin: ToolPin): KnownServer {
    const { hash, tools } = pin.seen ?? pin;
    return {
      hash,
      tools: knownTools(pin.tools, tools, this.policy),
      changes: pin.seen ? toolChanges(pin.tools, tools, this.policy) : [],
      pin,
    };
  }

  private reportChanges(tenant: string, server: string, pin: ToolPin, list: ToolList): void {
    const changes = toolChanges(pin.tools, list.tools, this.policy);
    const tools = changes.slice(0, SHOWN_TOOLS).map(({ tool, kind }) => `${tool} ${kind}`);
    const about = { tenant, server, tools, policy: this.policy };
    if (this.policy === 'allow') this.logger.log(about, 'The tools of an MCP server have changed');
    else this.logger.warn(about, 'The tools of an MCP server have changed');
  }
}
