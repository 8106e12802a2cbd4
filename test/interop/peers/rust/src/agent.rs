//! The agent: the first text of a Message selects what it does.
use a2a::{A2AError, PartContent, StreamResponse};
use a2a_server::{AgentExecutor, ExecutorContext};
use futures::stream::{BoxStream, StreamExt};
use serde_json::{Value, json};
use std::{path::Path, time::Duration};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

pub struct Agent;

/// Events of one turn, as the JSON of A2A 1.0.
struct Turn {
    task_id: String,
    context_id: String,
    events: UnboundedSender<Result<StreamResponse, A2AError>>,
}

impl Turn {
    fn send(&self, event: Value) {
        let _ = self.events.send(Ok(serde_json::from_value(event).expect("an event")));
    }

    fn status(&self, state: &str, text: &str) {
        let mut status = json!({ "state": state });
        if !text.is_empty() {
            let parts = json!([{ "text": text }]);
            status["message"] = json!({ "messageId": a2a::new_message_id(), "role": "ROLE_AGENT", "parts": parts,
                "taskId": self.task_id, "contextId": self.context_id });
        }
        self.send(json!({ "statusUpdate":
            { "taskId": self.task_id, "contextId": self.context_id, "status": status } }));
    }

    fn artifact(&self, parts: Value, append: bool, last: bool) {
        let artifact = json!({ "artifactId": "answer", "parts": parts });
        self.send(json!({ "artifactUpdate": { "taskId": self.task_id, "contextId": self.context_id,
            "artifact": artifact, "append": append, "lastChunk": last } }));
    }

    fn answer(&self, parts: Value) {
        self.artifact(parts, false, true);
        self.status("TASK_STATE_COMPLETED", "");
    }

    async fn tell(&self, release: Option<&str>) {
        self.artifact(json!([{ "text": "one " }]), false, false);
        while release.is_some_and(|path| !Path::new(path).exists()) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.artifact(json!([{ "text": "two" }]), true, true);
        self.status("TASK_STATE_COMPLETED", "");
    }
}

async fn execute(context: ExecutorContext, turn: Turn) {
    let message = context.message.expect("a message");
    if context.stored_task.is_some() {
        return turn.answer(json!([{ "text": format!("[{}]", message.text().unwrap_or("")) }]));
    }
    turn.send(json!({ "task": { "id": turn.task_id, "contextId": turn.context_id, "history": [message],
        "status": { "state": "TASK_STATE_SUBMITTED" } } }));
    turn.status("TASK_STATE_WORKING", "");
    let text = message.text().unwrap_or("").to_owned();
    match text.split(' ').collect::<Vec<_>>().as_slice() {
        ["tell", rest @ ..] => turn.tell(rest.first().copied()).await,
        ["ask"] => turn.status("TASK_STATE_INPUT_REQUIRED", "Which tea?"),
        ["wait"] => turn.events.closed().await,
        ["fail"] => turn.status("TASK_STATE_FAILED", "no tea left"),
        ["throw"] => drop(turn.events.send(Err(A2AError::internal("the kettle broke")))),
        ["context"] => turn.answer(json!([{ "text": turn.context_id }])),
        _ => {
            let others = message.parts.into_iter().filter(|part| !matches!(part.content, PartContent::Text(_)));
            turn.answer(json!(others.collect::<Vec<_>>()))
        }
    }
}

impl AgentExecutor for Agent {
    fn execute(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let (events, mut told) = unbounded_channel();
        let turn = Turn { task_id: context.task_id.clone(), context_id: context.context_id.clone(), events };
        tokio::spawn(execute(context, turn));
        futures::stream::poll_fn(move |cx| told.poll_recv(cx)).boxed()
    }

    fn cancel(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let (events, mut told) = unbounded_channel();
        let turn = Turn { task_id: context.task_id, context_id: context.context_id, events };
        turn.status("TASK_STATE_CANCELED", "");
        futures::stream::poll_fn(move |cx| told.poll_recv(cx)).boxed()
    }
}
