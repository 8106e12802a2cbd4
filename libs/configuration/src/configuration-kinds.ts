import { Injectable } from '@nestjs/common';
import type { ConfigurationKind } from './configuration-kind.js';

/** Registry of the kinds of objects that a caller may keep in files beside workflows. */
@Injectable()
export class ConfigurationKinds {
  private readonly kinds = new Map<string, ConfigurationKind>();

  /** Adds a kind. Call it before the service listens. */
  addKind(kind: ConfigurationKind): void {
    this.kinds.set(kind.kind, kind);
  }

  get(kind: string): ConfigurationKind | undefined {
    return this.kinds.get(kind);
  }

  /** Returns all kinds in the order in which their objects are saved. */
  listKinds(): ConfigurationKind[] {
    return [...this.kinds.values()].toSorted((one, other) => one.rank - other.rank);
  }
}
