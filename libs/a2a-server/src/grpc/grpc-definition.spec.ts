import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { GRPC_SERVICE, type GrpcRequest } from './grpc-definition.js';

function listParams(request: object): unknown {
  const bytes = A2AService.listTasks.requestSerialize(sdk.ListTasksRequest.fromJSON(request));
  return (GRPC_SERVICE.ListTasks?.requestDeserialize(bytes) as GrpcRequest).readParams(100);
}

describe('ListTasks over gRPC', () => {
  it.each([
    [{ pageSize: 0, historyLength: 0 }, { historyLength: 0 }],
    [{ pageSize: 7 }, { pageSize: 7 }],
    [{ pageSize: -1 }, { pageSize: -1 }],
    [{}, {}],
  ])('reads %j as %j: a page size of 0 is none', (request, params) => {
    expect(listParams(request)).toMatchObject(params);
    expect(Object.keys(listParams(request) as object).includes('pageSize')).toBe('pageSize' in params);
  });
});
