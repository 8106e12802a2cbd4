import { Injectable } from '@nestjs/common';

/** The secrets that brainstorms may name. Their values are nobody's business here. */
@Injectable()
export class Credentials {
  isSet(name: string): boolean {
    return (process.env[name] ?? '') !== '';
  }
}
