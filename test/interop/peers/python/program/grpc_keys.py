"""Keys of calls over gRPC: a server that asks for the key in PEER_KEY, and channels that send it."""

import os

import grpc

KEY = os.environ.get('PEER_KEY')
KEY_NAME = 'x-api-key'


class GrpcGuard(grpc.aio.ServerInterceptor):
    """Refuses calls without the key."""

    async def intercept_service(self, continuation, details):
        handler = await continuation(details)
        if KEY is None or dict(details.invocation_metadata).get(KEY_NAME) == KEY:
            return handler

        async def refuse(request, context):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, 'a key is missing')

        async def refuse_stream(request, context):
            await refuse(request, context)
            yield

        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                refuse_stream, handler.request_deserializer, handler.response_serializer
            )
        return grpc.unary_unary_rpc_method_handler(refuse, handler.request_deserializer, handler.response_serializer)


class KeyOfCalls(grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation, details, request):
        return await continuation(with_key(details), request)


class KeyOfStreams(grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation, details, request):
        return await continuation(with_key(details), request)


def with_key(details):
    metadata = grpc.aio.Metadata(*(details.metadata or ()), (KEY_NAME, KEY))
    return grpc.aio.ClientCallDetails(
        details.method, details.timeout, metadata, details.credentials, details.wait_for_ready
    )


def open_channel(target):
    """Connects to this machine, where the service finds the agent by the host of the card."""
    port = target.rsplit(':', 1)[1]
    interceptors = [KeyOfCalls(), KeyOfStreams()] if KEY else []
    options = [('grpc.default_authority', target)]
    return grpc.aio.insecure_channel(f'127.0.0.1:{port}', options=options, interceptors=interceptors)
