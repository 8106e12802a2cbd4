//! The agent at a port, by one binding; over gRPC its card is at another port.
use crate::agent::Agent;
use a2a::AgentCard;
use a2a_grpc::GrpcHandler;
use a2a_pb::a2a_service_server::A2aServiceServer;
use a2a_server::agent_card::agent_card_router;
use a2a_server::{DefaultRequestHandler, HttpPushSender, HttpPushSenderConfig, InMemoryPushConfigStore};
use a2a_server::{InMemoryTaskStore, StaticAgentCard};
use axum::{Router, extract::Request, http::StatusCode, middleware::Next, response::Response};
use serde_json::json;
use std::sync::Arc;
use tonic::Status;

/// Serves the agent until the process ends. A key in PEER_KEY is asked of every call.
pub async fn serve(binding: &str, port: &str, card_port: &str, address: &str) {
    let [port, card_port] = [port, card_port].map(|it| it.parse::<u16>().expect("a port"));
    let card = card(binding, address);
    let pushes = HttpPushSender::new(Some(HttpPushSenderConfig { validate_urls: false, ..Default::default() }));
    let handler = DefaultRequestHandler::new(Agent, InMemoryTaskStore::new())
        .with_push_notifications(InMemoryPushConfigStore::new(), pushes)
        .with_capabilities(card.capabilities.clone());
    let handler = Arc::new(handler);
    let cards = agent_card_router(Arc::new(StaticAgentCard::new(card)));
    let calls = match binding {
        "JSONRPC" => a2a_server::jsonrpc::jsonrpc_router(handler),
        "HTTP+JSON" => a2a_server::rest::rest_router(handler),
        _ => {
            let service = A2aServiceServer::with_interceptor(GrpcHandler::new(handler), |request| {
                match allowed(request_key(&request)) {
                    true => Ok(request),
                    false => Err(Status::unauthenticated("a key is missing")),
                }
            });
            let address = format!("127.0.0.1:{port}").parse().expect("an address");
            tokio::spawn(tonic::transport::Server::builder().add_service(service).serve(address));
            return listen(card_port, cards).await;
        }
    };
    listen(port, cards.merge(calls.layer(axum::middleware::from_fn(guard)))).await
}

/// Serves a router until the process ends. A key in PEER_KEY is asked of every call.
pub async fn listen_guarded(port: u16, router: Router) {
    listen(port, router.layer(axum::middleware::from_fn(guard))).await
}

async fn listen(port: u16, router: Router) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
    axum::serve(listener, router).await.expect("to serve");
}

async fn guard(request: Request, next: Next) -> Result<Response, StatusCode> {
    let key = request.headers().get("x-api-key").and_then(|key| key.to_str().ok());
    if allowed(key) { Ok(next.run(request).await) } else { Err(StatusCode::UNAUTHORIZED) }
}

fn request_key(request: &tonic::Request<()>) -> Option<&str> {
    request.metadata().get("x-api-key").and_then(|key| key.to_str().ok())
}

fn allowed(key: Option<&str>) -> bool {
    std::env::var("PEER_KEY").map_or(true, |wanted| key == Some(wanted.as_str()))
}

fn card(binding: &str, address: &str) -> AgentCard {
    let mut card = json!({
        "name": "tea",
        "description": "Tells, asks and waits",
        "version": "1.0.0",
        "supportedInterfaces": [{ "url": address, "protocolBinding": binding, "protocolVersion": "1.0" }],
        "capabilities": { "streaming": true, "pushNotifications": true },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "tea", "name": "Tea", "description": "Tea", "tags": ["tea"] }],
    });
    if std::env::var("PEER_KEY").is_ok() {
        card["securitySchemes"] =
            json!({ "key": { "apiKeySecurityScheme": { "location": "header", "name": "x-api-key" } } });
        card["securityRequirements"] = json!([{ "schemes": { "key": { "list": [] } } }]);
    }
    serde_json::from_value(card).expect("a card")
}
