import { tooManyMembers } from '#libs/http';
import { A2AError } from '#libs/protocol';

/** The refusal of a request whose JSON, or what stands for it, has more members than that. */
export function tooManyMembersError(limit: number): A2AError {
  const description = tooManyMembers(limit);
  const violations = [{ field: 'body', description }];
  return new A2AError('INVALID_REQUEST', { message: `The body ${description}`, violations });
}
