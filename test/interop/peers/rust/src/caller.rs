//! The client: prints what an agent answers, one line of JSON an event.
use a2a::*;
use a2a_client::auth::AuthInterceptor;
use a2a_client::jsonrpc::JsonRpcTransportFactory;
use a2a_client::rest::RestTransportFactory;
use a2a_client::{A2AClient, A2AClientFactory, BoxStream, Transport};
use a2a_grpc::GrpcTransport;
use futures::StreamExt;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

type Client = A2AClient<Box<dyn Transport>>;
type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

/// Does one operation. An error is printed as `{"error": …}`.
pub async fn call(base: &str, binding: &str, operation: &str, args: &[&str]) {
    if let Err(A2AError { code, message, .. }) = try_call(base, binding, operation, args).await {
        print(&json!({ "error": { "code": code, "message": message } }));
    }
}

async fn try_call(base: &str, binding: &str, operation: &str, args: &[&str]) -> Result<(), A2AError> {
    let client = connect(base, binding).await?;
    match (operation, args) {
        ("send", [text]) => drop(send(&client, message(text)).await?),
        ("stream", [text]) => read(client.send_streaming_message(&request(message(text), json!({}))).await?).await?,
        ("ask", [text, answer]) => {
            let asked = send(&client, message(text)).await?;
            let mut reply = message(answer);
            (reply["taskId"], reply["contextId"]) = (asked["id"].clone(), asked["contextId"].clone());
            send(&client, reply).await?;
        }
        ("follow-up", [first, next]) => {
            let task = send(&client, message(first)).await?;
            let mut further = message(next);
            further["contextId"] = task["contextId"].clone();
            send(&client, further).await?;
        }
        ("parts", [text]) => {
            let mut all = message(text);
            all["parts"] = json!([{ "text": text }, { "data": { "cups": 2 } },
                { "raw": "JVBERg==", "filename": "tea.pdf", "mediaType": "application/pdf" }]);
            send(&client, all).await?;
        }
        ("cancel", [text]) => {
            let task = start(&client, text, json!({})).await?;
            print(&client.cancel_task(&from(json!({ "id": task["id"] }))).await?);
        }
        ("resubscribe", [text]) => {
            let task = start(&client, text, json!({})).await?;
            read(client.subscribe_to_task(&from(json!({ "id": task["id"] }))).await?).await?;
        }
        ("push", [text, url, token]) => {
            let config = json!({ "taskPushNotificationConfig": { "url": url, "token": token } });
            start(&client, text, config).await?;
        }
        ("error", []) => print(&client.get_task(&from(json!({ "id": "none" }))).await?),
        _ => panic!("no such operation: {operation} {args:?}"),
    }
    Ok(())
}

async fn connect(base: &str, binding: &str) -> Result<Client, A2AError> {
    let authority = std::env::var("SSL_CERT_FILE").ok().map(|path| std::fs::read(path).expect("a certificate"));
    let http = a2a_client::default_reqwest_client(authority.as_deref())?;
    let card = a2a_client::agent_card::AgentCardResolver::new(Some(http.clone())).resolve(base).await?;
    let keys = std::env::var("PEER_KEY").map(|key| AuthInterceptor::custom("x-api-key", key));
    if binding == "GRPC" {
        let interfaces = card.supported_interfaces.iter();
        let at = interfaces.filter(|it| it.protocol_binding == "GRPC").next().expect("an interface of gRPC");
        let channel = grpc_channel(at.url.trim_start_matches("http://")).await;
        let client: Client = A2AClient::new(Box::new(GrpcTransport::from_channel(channel)));
        return Ok(match keys {
            Ok(key) => client.with_interceptors(vec![Arc::new(key)]),
            Err(_) => client,
        });
    }
    let mut factory = A2AClientFactory::builder().no_defaults();
    factory = match binding {
        "JSONRPC" => factory.register(Arc::new(JsonRpcTransportFactory::new(Some(http)))),
        _ => factory.register(Arc::new(RestTransportFactory::new(Some(http)))),
    };
    if let Ok(key) = keys {
        factory = factory.with_interceptor(Arc::new(key));
    }
    factory.build().create_from_card(&card).await
}

/// Connects to this machine, where the service finds the agent by the host of the card.
async fn grpc_channel(host: &str) -> tonic::transport::Channel {
    let port = host.rsplit(':').next().unwrap_or("443");
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://127.0.0.1:{port}")).expect("a URL");
    endpoint.origin(format!("http://{host}").parse().expect("a host")).connect().await.expect("to connect")
}

async fn send(client: &Client, message: Value) -> Result<Value, A2AError> {
    let answer = json!(client.send_message(&request(message, json!({}))).await?);
    print(&answer);
    Ok(answer["task"].clone())
}

async fn start(client: &Client, text: &str, mut configuration: Value) -> Result<Value, A2AError> {
    configuration["returnImmediately"] = json!(true);
    let answer = json!(client.send_message(&request(message(text), configuration)).await?);
    print(&answer);
    Ok(answer["task"].clone())
}

async fn read(mut events: Events) -> Result<(), A2AError> {
    while let Some(event) = events.next().await {
        print(&event?);
    }
    Ok(())
}

fn message(text: &str) -> Value {
    json!({ "messageId": new_message_id(), "role": "ROLE_USER", "parts": [{ "text": text }] })
}

fn request(message: Value, configuration: Value) -> SendMessageRequest {
    from(json!({ "message": message, "configuration": configuration }))
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a request")
}

fn print(event: &impl Serialize) {
    println!("{}", serde_json::to_string(event).expect("JSON"));
}
