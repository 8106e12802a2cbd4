import assert from 'node:assert/strict';
import { sendTask } from '../../support/a2a.js';
import type { CalledAt } from './a2a-called.js';
import { PEER_OPERATIONS, type PeerGap } from './peer-cells.js';

const GRPC_03: PeerGap<CalledAt> = {
  says: '– Parley calls no gRPC of A2A 0.3, and its error says so; offer JSON-RPC as well',
  async test({ base }) {
    const { status } = await sendTask(base, 'tell');
    assert.match(JSON.stringify(status), /no interface of 0\.3, but GRPC 0\.3\.0/);
  },
};

/** Cells of an agent of A2A 0.3 that offers gRPC only. */
export const NO_GRPC_03 = Object.fromEntries(PEER_OPERATIONS.a2a.called.map((operation) => [operation, GRPC_03]));
