import { IsOptional, Matches } from 'class-validator';

/** What is accepted. */
export class AcceptBody {
  /** The hash of the card that was looked at: another one is not accepted. */
  @IsOptional()
  @Matches(/^[\w-]{0,100}$/, { message: 'must be the hash of a card' })
  hash?: string;

  static from({ hash }: { hash?: string }): AcceptBody {
    return Object.assign(new AcceptBody(), { hash });
  }
}
