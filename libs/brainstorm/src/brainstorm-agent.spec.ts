import type { CallContext } from '#libs/agents';
import { userMessage } from '#libs/protocol';
import { BrainstormAgent } from './brainstorm-executor.js';
import type { BrainstormServices } from './brainstorm-run.js';
import { specMetadata } from './brainstorm-spec.js';
import { specOf } from './testing/driven-brainstorm.js';

const { executor } = new BrainstormAgent({} as BrainstormServices);
const call = {} as CallContext;

describe('BrainstormAgent', () => {
  it('is not begun by a Message, whatever that claims to be about', async () => {
    const request = { message: userMessage('an idea'), metadata: specMetadata(specOf(['a', 'b'])) };
    await expect(executor.checkRequest(request, call)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  it('takes a Message to one that rests', async () => {
    const message = userMessage('go on', { taskId: 'storm-1' });
    await expect(executor.checkRequest({ message }, call)).resolves.toBeUndefined();
  });
});
