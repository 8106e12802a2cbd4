/**
 * What the management API takes and answers, made of its OpenAPI document: `npm run client-types`.
 * @generated
 */
export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The public keys that agent cards and push notifications are signed with (RFC 7517). */
        get: operations["listSigningKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An agent's card as it is now, what is wrong with it, and whether its signature is valid. */
        get: operations["previewAgentCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The cards of agents that were called, in the order of their URLs. */
        get: operations["listAgentCards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-cards/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One card as it was pinned, the one that waits to be accepted, and all changes. */
        get: operations["getAgentCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-cards/{id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts what was seen last: it is pinned from now on, and calls go on. */
        post: operations["acceptAgentCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a Message to the agent at a URL and streams what it answers, in the form of A2A 1.0.
         * @description Each event is a StreamResponse. A call that fails ends the stream with an event `error`, a problem as JSON. What is to last is started as a conversation or a workflow.
         */
        post: operations["sendAgentMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Saves several workflows, all of them or none.
         * @description What is as it was sent stays as it is, and gets no new revision.
         */
        post: operations["applyWorkflows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Brainstorms, the one that changed last first. */
        get: operations["listBrainstorms"];
        put?: never;
        /** Starts a brainstorm and answers at once. */
        post: operations["startBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One brainstorm with its state, its passes, and who set what. */
        get: operations["getBrainstorm"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a brainstorm with the state of its last complete pass. */
        post: operations["approveBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a brainstorm and tells what became of the agent at work. */
        post: operations["cancelBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A brainstorm's events, from the first one or after a cursor, then live until it awaits input or has ended. */
        get: operations["streamBrainstormEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/iterate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Goes on with a brainstorm that has converged or failed.
         * @description A pass that failed goes on with the agent that failed. One that is active goes on anyway.
         */
        post: operations["iterateBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Conversations, the one that changed last first. */
        get: operations["listConversations"];
        put?: never;
        /** Starts a conversation and answers at once. */
        post: operations["startConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One conversation with its turns. */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a conversation at once, and the Task of the agent that is at work for it. */
        post: operations["cancelConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A conversation's events, from the first one or after a cursor, then live until it is complete. */
        get: operations["streamConversationEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses a conversation after the turn that is under way. */
        post: operations["pauseConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Goes on with a paused conversation. */
        post: operations["resumeConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Completes a conversation after the turn that is under way; its outcome is `done`. */
        post: operations["stopConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says the next turn in place of the agent whose turn it is; a paused conversation stays paused. */
        post: operations["injectTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All credentials, by name; never their secrets. */
        get: operations["listCredentials"];
        put?: never;
        /** Keeps a new credential. */
        post: operations["createCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/credentials/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One credential; never its secret. */
        get: operations["getCredential"];
        /** Replaces a credential, its secret too: a secret that is kept cannot be given another destination. */
        put: operations["replaceCredential"];
        post?: never;
        /** Deletes a credential that no workflow, no model and no MCP server names. */
        delete: operations["deleteCredential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Push notifications that were tried, the newest first. */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a notification again: a delivered one by itself, any other at once with all that follow it. */
        post: operations["redeliverNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything that happens to what is yours, live: Tasks, runs and conversations. The WebSocket at /events gives the same. */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/expressions/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Says what is wrong with an expression, or with a text that has some, and what may be named where it stands.
         * @description The definition around it may have other errors. Without a definition and a path only its syntax is checked.
         */
        post: operations["checkExpression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists own files, newest first. */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a file; also with HEAD. */
        get: operations["readFile"];
        put?: never;
        post?: never;
        /** Deletes a file that no Task names. */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}/urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes an address that opens a file without a key, for a time. */
        post: operations["createFileUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Has a model write a workflow from a description, and saves nothing.
         * @description A definition with errors goes back to the model with its problems, at most twice. With `Accept: text/event-stream` the answer is a stream: `generate.started` {model}, `generate.progress` {text}, `generate.draft` {workflow, problems, attempt}, `generate.repair` {attempt, problems}, and last `done` with the JSON answer, or `error` with a problem. A request takes 120 seconds at most; closing it ends the call of the model.
         */
        post: operations["generateWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the caller's runs ask, the longest asked first.
         * @description A question is here until it is answered, or its run goes on without an answer.
         */
        get: operations["listQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All keys, also ended ones; never the keys themselves. */
        get: operations["listKeys"];
        put?: never;
        /** Makes a key; it is shown only in this answer. */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a key: within two seconds no replica lets it in any more. */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a new key of the same name and scopes; the old one ends after the overlap. */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All MCP servers, by name, with what is known of them. */
        get: operations["listMcpServers"];
        put?: never;
        /** Keeps a new MCP server. */
        post: operations["createMcpServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One MCP server, asked now: its tools, and what has changed since they were pinned. */
        get: operations["getMcpServer"];
        /** Replaces an MCP server. Its tools stay pinned as they are. */
        put: operations["replaceMcpServer"];
        post?: never;
        /** Deletes an MCP server, and what was pinned of it. */
        delete: operations["deleteMcpServer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts the tools as they were seen: they are pinned from now on, and none is blocked. */
        post: operations["acceptMcpServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All models, by name. */
        get: operations["listModels"];
        put?: never;
        /** Keeps a new model. */
        post: operations["createModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One model. */
        get: operations["getModel"];
        /** Replaces a model; a call that is under way goes on with what it was. */
        put: operations["replaceModel"];
        post?: never;
        /** Deletes a model that no workflow names. */
        delete: operations["deleteModel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Runs, the one that changed last first. */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run with every node's state. */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers what a node of a run asks; the run goes on. */
        post: operations["answerQuestion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a run and tells what became of each remote Task. */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run's events, from the first one or after a cursor, then live until it has ended. */
        get: operations["streamRunEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/forks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The runs that began with a run. */
        get: operations["listForks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The instances of a run's nodes: one of most, and one for each iteration and entry of a list. */
        get: operations["listInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/nodes/{node}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One node of a run, with what it was sent. */
        get: operations["getRunNode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a new run that takes over results of one that has ended.
         * @description What is named in `from`, and with `failed` what failed, is run anew with everything after it; without a body everything is. With other `inputs` or another `revision` also whatever these change.
         */
        post: operations["startRerun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/workflow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workflow as it was when the run was started. */
        get: operations["getRunWorkflow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the events of a Task, from its first or after one, page by page. */
        get: operations["listTaskEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A ticket for the WebSocket at /events, good once, within thirty seconds. */
        post: operations["createTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores files.
         * @description A form with 1 to 20 parts named `file`, or one file as the body, called as `filename` of `Content-Disposition`. Also as `POST /api/files`.
         */
        post: operations["uploadFiles"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All workflows, by name.
         * @description Where one answer has no room for all of them, `Next-Page-Token` says how to ask for the rest, and `Link` where.
         */
        get: operations["listWorkflows"];
        put?: never;
        /** Creates a workflow. */
        post: operations["createWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One workflow.
         * @description Its revision is the ETag of the answer.
         */
        get: operations["getWorkflow"];
        /** Creates or replaces a workflow. Its name is that of the path. */
        put: operations["saveWorkflow"];
        post?: never;
        /** Deletes a workflow. Its runs stay. */
        delete: operations["deleteWorkflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The revisions of a workflow, the newest first. */
        get: operations["listWorkflowRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/revisions/{revision}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A workflow as it was saved once. */
        get: operations["getWorkflowRevision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a run and streams its events until it has ended.
         * @description A body that is empty or no JSON stands for no inputs. Disconnecting does not stop the run.
         */
        post: operations["runWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a run and answers at once. */
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says what is wrong with a definition, and saves nothing. */
        post: operations["checkWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a file by an address that its owner had signed; also with HEAD. */
        get: operations["readSignedFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process answers. */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether requests may be sent here. */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/startup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the service has started. */
        get: operations["getStartup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is measured, for Prometheus. */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schemas/workflow.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The JSON Schema (2020-12) of workflow definitions. */
        get: operations["getWorkflowSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptBody: {
            /**
             * @description The hash of the card that was looked at: another one is not accepted.
             * @example qK3l0x7pS9n1
             */
            hash?: string;
        };
        AgentMessageBody: {
            /**
             * @description A Message of A2A 1.0.
             * @example {
             *       "messageId": "m1",
             *       "role": "ROLE_USER",
             *       "parts": [
             *         {
             *           "text": "Hello"
             *         }
             *       ]
             *     }
             */
            message: {
                [key: string]: unknown;
            };
            /**
             * @description The agent's base URL, or its card's.
             * @example https://agents.example/critic
             */
            url: string;
        };
        AnswerBody: {
            /**
             * @description The node, or the instance of it that asks.
             * @example gate
             */
            node: string;
            /**
             * @description A2A Parts: one of data where the question has a form, else text.
             * @example [
             *       {
             *         "data": {
             *           "decision": "yes"
             *         }
             *       }
             *     ]
             */
            parts: {
                [key: string]: unknown;
            }[];
        };
        ApiKeyBody: {
            /**
             * @description The only places that it is sent to: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Left out: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /**
             * @default header
             * @enum {string}
             */
            in: "header" | "query" | "cookie";
            /** @enum {string} */
            kind: "api-key";
            /** @example partner */
            name: string;
            /**
             * @description Where the agent's card names no other.
             * @default X-API-Key
             */
            parameter: string;
            /** @example k3y */
            value: string;
        };
        AppliedView: {
            workflows: components["schemas"]["AppliedWorkflow"][];
        };
        AppliedWorkflow: {
            /** @enum {string} */
            action: "created" | "updated" | "unchanged" | "deleted";
            /** @example greeting */
            name: string;
            /** @description What its author is told of; absent: nothing. */
            problems?: components["schemas"]["WorkflowProblemView"][];
            /**
             * @description The one that it has now; absent where it was deleted.
             * @example 8
             */
            revision?: string;
        };
        ApplyBody: {
            /**
             * @description False: a workflow that is there, was last applied under another mark or none, and differs is not replaced unless its expected revision is sent; nothing is saved then.
             * @default true
             */
            adopt: boolean;
            /**
             * @description Says of all of them where they come from, such as a folder.
             * @example team-a/workflows
             */
            mark?: string;
            /**
             * @description Whether workflows of the same mark that were not sent are deleted.
             * @default false
             */
            prune: boolean;
            workflows: components["schemas"]["SentWorkflow"][];
        };
        BasicBody: {
            /**
             * @description The only places that it is sent to: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Left out: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "basic";
            /** @example partner */
            name: string;
            /** @example p4ssw0rd */
            password: string;
            /** @example ann */
            username: string;
        };
        BearerBody: {
            /**
             * @description The only places that it is sent to: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Left out: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "bearer";
            /** @example partner */
            name: string;
            /** @example t0k3n */
            token: string;
        };
        BrainstormAgentBody: {
            /**
             * @description An agent's URL, a path of the directory, or the name of a workflow.
             * @example workflows/architect
             */
            agent: string;
            /**
             * @description The name of a stored credential, for an agent that is named by its URL.
             * @example architect-key
             */
            auth?: string;
            /**
             * @description The name of a stored credential with hosts: for an agent of this service in place of the key of its models, for another one the same as auth.
             * @example team-key
             */
            credential_ref?: string;
            /** @example llama-4 */
            model?: string;
            /** @example ann */
            name?: string;
            /** @example openai-compatible */
            provider?: string;
            /**
             * @description By position where it is left out.
             * @enum {string}
             */
            role?: "build" | "review" | "refine" | "devils_advocate";
            /**
             * @description Names of Parley's skills (accessibility, cost, data, operations, performance, product, security, testing) or of skills of the agent's card, or what the agent shall know, in words.
             * @example [
             *       "security"
             *     ]
             */
            skills?: string[];
        };
        BrainstormAgentView: {
            /** @example workflows/architect */
            agent: string;
            /** @example llama-4 */
            model: string;
            /** @example ann */
            name: string;
            /** @example openai-compatible */
            provider: string;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
            /**
             * @example [
             *       "security"
             *     ]
             */
            skills: string[];
        };
        BrainstormBody: {
            agents: components["schemas"]["BrainstormAgentBody"][];
            /** @example A library that lends tools */
            idea: string;
            /** @description Goes before what the agents' own entries say. */
            llmConfig?: components["schemas"]["LlmConfigBody"];
            /** @default 10 */
            maxIterations: number;
            /**
             * @description What every agent is told first, instead of our own words.
             * @example You develop an idea together with others.
             */
            systemPrompt?: string;
            /**
             * @description Milliseconds that an agent may keep silent; default 120,000.
             * @example 120000
             */
            timeoutMs?: number;
        };
        BrainstormFailure: {
            /** @example ann */
            agent?: string;
            /** @example the agent gave no state */
            message: string;
        };
        BrainstormId: {
            /**
             * @description The A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
        };
        BrainstormPage: {
            brainstorms: components["schemas"]["BrainstormSummary"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        BrainstormStateView: {
            /** @example A catalogue, a room and members. */
            architecture: string;
            /**
             * @example [
             *       "Tools are returned"
             *     ]
             */
            assumptions: string[];
            execution_plan: components["schemas"]["PlanStepView"][];
            /** @example A library that lends tools */
            idea: string;
            meta: components["schemas"]["StateMeta"];
            metrics: components["schemas"]["StateMetrics"];
            /**
             * @example [
             *       "Who pays for repairs?"
             *     ]
             */
            open_questions: string[];
            risks: components["schemas"]["RiskView"][];
        };
        BrainstormStatusReport: {
            /**
             * @description The A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
            /** @enum {string} */
            status: "active" | "converged" | "approved" | "failed" | "canceled";
            stopped?: components["schemas"]["StoppedAgentView"][];
        };
        BrainstormSummary: {
            /**
             * @description The A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /** @example A library that lends tools */
            idea: string;
            /**
             * @description Of the last complete pass.
             * @example 2
             */
            iteration: number;
            /** @enum {string} */
            status: "active" | "converged" | "approved" | "failed" | "canceled";
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        BrainstormView: {
            agents: components["schemas"]["BrainstormAgentView"][];
            /**
             * @description The A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
            /**
             * @description Why it has converged, in one sentence.
             * @example All agents agree.
             */
            convergence?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["BrainstormFailure"];
            /**
             * @description Of the last complete pass.
             * @example 2
             */
            iteration: number;
            /** @example 2 */
            maxIterations: number;
            passes: components["schemas"]["PassView"][];
            /** @description Who last set a part of the state, by its path, as in `risks[0]`. */
            provenance: {
                [key: string]: components["schemas"]["SourceView"];
            };
            state: components["schemas"]["BrainstormStateView"];
            /** @enum {string} */
            status: "active" | "converged" | "approved" | "failed" | "canceled";
            stopped?: components["schemas"]["StoppedAgentView"][];
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        CanceledNode: {
            /** @example https://agents.example/writer */
            agentUrl: string;
            /** @example writer */
            node: string;
            /** @enum {string} */
            outcome: "acknowledged" | "refused" | "unreachable" | "not-started" | "unknown";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
        };
        CanceledRun: {
            children: components["schemas"]["CanceledNode"][];
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
        };
        CardChangeView: {
            /** Format: date-time */
            acceptedAt?: string;
            /**
             * @description Absent where the policy accepted it.
             * @example ann
             */
            acceptedBy?: string;
            /**
             * @description path, kind, significant, before?, after?
             * @example [
             *       {
             *         "path": "/name",
             *         "kind": "changed",
             *         "significant": true,
             *         "before": "Translator",
             *         "after": "Interpreter"
             *       }
             *     ]
             */
            changes: {
                [key: string]: unknown;
            }[];
            /** Format: date-time */
            firstSeenAt: string;
            /** @example qK3l0x7pS9n1 */
            from: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** @description Whether it is about what callers rely on. */
            significant: boolean;
            /**
             * @description How often it was seen.
             * @example 1
             */
            times: number;
            /** @example x0pS9n1qK3l7 */
            to: string;
        };
        CardDetailView: {
            /** Format: date-time */
            acceptedAt?: string;
            /** @example ann */
            acceptedBy?: string;
            /** @description Whether calls are refused until the change is accepted. */
            blocked: boolean;
            /**
             * @description null where it was accepted that the agent has none.
             * @example {
             *       "name": "Translator",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            card: {
                [key: string]: unknown;
            } | null;
            /** @description The newest first. */
            changes: components["schemas"]["CardChangeView"][];
            /** Format: date-time */
            firstSeenAt: string;
            /** @example qK3l0x7pS9n1 */
            hash: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** @example Translator */
            name: string;
            /**
             * @description The card that waits to be accepted; null: there is none any more.
             * @example {
             *       "name": "Interpreter",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            seenCard?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Of the card that waits to be accepted.
             * @example x0pS9n1qK3l7
             */
            seenHash?: string;
            /**
             * @description `changed`: another card than the pinned one was seen, and nobody has accepted it.
             * @enum {string}
             */
            status: "pinned" | "changed";
            /** @example https://agent.example.com/a2a */
            url: string;
        };
        CardPageView: {
            cards: components["schemas"]["CardView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        CardPreviewView: {
            /**
             * @description The AgentCard, in the form of A2A 1.0; absent where none could be read.
             * @example {
             *       "name": "Translator",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            card?: {
                [key: string]: unknown;
            };
            /**
             * @description Where the card was found; absent where there is none.
             * @example https://agent.example.com/a2a/.well-known/agent-card.json
             */
            cardUrl?: string;
            /**
             * @description id, status and blocked of what is pinned; same: whether the card is that.
             * @example {
             *       "id": "0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11",
             *       "status": "pinned",
             *       "blocked": false,
             *       "same": true
             *     }
             */
            pin?: {
                [key: string]: unknown;
            };
            problems: components["schemas"]["CardProblemView"][];
            /**
             * @description state (valid, invalid, untrusted, unsigned) and signatures, one report each.
             * @example {
             *       "state": "valid",
             *       "signatures": [
             *         {
             *           "state": "valid",
             *           "alg": "ES256",
             *           "kid": "k1"
             *         }
             *       ]
             *     }
             */
            signature?: {
                [key: string]: unknown;
            };
            /** @example https://agent.example.com/a2a */
            url: string;
            /**
             * @description The version of A2A that the card is one of.
             * @enum {string}
             */
            version?: "1.0" | "0.3" | "pre-1.0";
        };
        CardProblemView: {
            /** @example must be a string */
            detail: string;
            /** @enum {string} */
            level: "error" | "warning";
            /**
             * @description The member; `''` is the whole.
             * @example skills[0].id
             */
            path: string;
        };
        CardView: {
            /** Format: date-time */
            acceptedAt?: string;
            /** @example ann */
            acceptedBy?: string;
            /** @description Whether calls are refused until the change is accepted. */
            blocked: boolean;
            /** Format: date-time */
            firstSeenAt: string;
            /** @example qK3l0x7pS9n1 */
            hash: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** @example Translator */
            name: string;
            /**
             * @description Of the card that waits to be accepted.
             * @example x0pS9n1qK3l7
             */
            seenHash?: string;
            /**
             * @description `changed`: another card than the pinned one was seen, and nobody has accepted it.
             * @enum {string}
             */
            status: "pinned" | "changed";
            /** @example https://agent.example.com/a2a */
            url: string;
        };
        ConversationBody: {
            /**
             * @description The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent. It is told the last text, after the end.
             * @example workflows/archive
             */
            announce?: string;
            /**
             * @description The names of stored credentials, by `requester`, `target` and `announce`, for those that are URLs.
             * @example {
             *       "target": "partner"
             *     }
             */
            auth?: components["schemas"]["ConversationCredentials"];
            /**
             * @description How agents elsewhere get the prompt of their turn, and what they have said themselves: `text`, as a text Part before the other side's text, or `none`. Agents of the service, and agents whose card declares the extension `urn:parley:extension:conversation:v1`, get both in the Message's metadata.
             * @default none
             * @enum {string}
             */
            instructions: "text" | "none";
            /** @default 5 */
            maxTurns: number;
            /**
             * @description What the requester says first.
             * @example What do you think of this verse?
             */
            message: string;
            /**
             * @description The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent. Absent: nobody answers the target.
             * @example poet
             */
            requester?: string;
            /**
             * @description The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent.
             * @example critic
             */
            target: string;
            /**
             * @description Milliseconds that an agent has for one turn, or for the announcement.
             * @default 60000
             */
            timeoutMs: number;
        };
        ConversationCredentials: {
            /** @example partner */
            announce?: string;
            /** @example partner */
            requester?: string;
            /** @example partner */
            target?: string;
        };
        ConversationDetail: {
            /** @enum {string} */
            announcement?: "delivered" | "silenced" | "failed";
            /**
             * @description The A2A taskId of the conversation.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            conversationId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["ConversationFailure"];
            /** @example 5 */
            maxTurns: number;
            origin?: components["schemas"]["ConversationOrigin"];
            /** @enum {string} */
            outcome?: "done" | "skipped" | "max_turns" | "error" | "canceled" | "timeout";
            /** @description Present while it is paused, or waits for the answer of a person to a question of an agent. */
            paused?: boolean;
            /**
             * @description Question of an agent that a person has to answer before the next turn, by a Message to the Task.
             * @example The agent "poet" asks: May the tool "web/publish" be called?
             */
            question?: string;
            /** @example poet */
            requester: string;
            /** @enum {string} */
            status: "active" | "complete";
            /** @example critic */
            target: string;
            /**
             * @description Milliseconds for one turn.
             * @example 60000
             */
            timeoutMs: number;
            turns: components["schemas"]["ConversationTurn"][];
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        ConversationFailure: {
            /** @example AGENT_NOT_FOUND */
            code: string;
            /** @example there is no agent "critic" */
            message: string;
            /** @description Whether the same turn may well succeed later. */
            retryable: boolean;
            /** @example 3 */
            turn: number;
        };
        ConversationId: {
            /**
             * @description The A2A taskId of the conversation.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            conversationId: string;
        };
        ConversationOrigin: {
            /**
             * @description The id of the call by which the model of an `agent` node began the conversation.
             * @example call_1
             */
            call: string;
            /**
             * @description The A2A taskId of the agent.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            taskId: string;
        };
        ConversationPage: {
            conversations: components["schemas"]["ConversationSummary"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        ConversationSummary: {
            /**
             * @description The A2A taskId of the conversation.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            conversationId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /** @example 5 */
            maxTurns: number;
            origin?: components["schemas"]["ConversationOrigin"];
            /** @enum {string} */
            outcome?: "done" | "skipped" | "max_turns" | "error" | "canceled" | "timeout";
            /** @description Present while it is paused, or waits for the answer of a person to a question of an agent. */
            paused?: boolean;
            /** @example poet */
            requester: string;
            /** @enum {string} */
            status: "active" | "complete";
            /** @example critic */
            target: string;
            /**
             * @description Milliseconds for one turn.
             * @example 60000
             */
            timeoutMs: number;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        ConversationTurn: {
            /** @example poet */
            fromAgent: string;
            /** @example It does not rhyme yet. */
            text: string;
            /** @example critic */
            toAgent: string;
            /**
             * @description Epoch milliseconds.
             * @example 1769851800000
             */
            ts: number;
            /**
             * @description From 0.
             * @example 0
             */
            turn: number;
        };
        CredentialListView: {
            credentials: components["schemas"]["CredentialView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        CredentialView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description The origins that it may be sent to.
             * @example [
             *       "https://api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "api-key" | "bearer" | "basic" | "oauth2-client-credentials";
            /** @description Gone when the credential is replaced. */
            lastError?: components["schemas"]["LastError"];
            /**
             * Format: date-time
             * @description To within ten seconds.
             */
            lastUsedAt?: string;
            /** @example partner */
            name: string;
            /** Format: date-time */
            updatedAt: string;
        };
        DeliveryPageView: {
            deliveries: components["schemas"]["DeliveryView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        DeliveryView: {
            /** @example 1 */
            attempts: number;
            /** @example config-1 */
            configId: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Why its config gets nothing more.
             * @example The receiver answered 410 Gone
             */
            disabledReason?: string;
            /**
             * @description The notification's id, as its receiver sees it.
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11.7
             */
            id: string;
            /**
             * @description The kind of failure where there was no answer.
             * @example timeout
             */
            lastError?: string;
            /**
             * @description The HTTP status of the last answer.
             * @example 200
             */
            lastStatus?: number;
            /** Format: date-time */
            nextAttemptAt?: string;
            /**
             * @description The event's number in its Task.
             * @example 7
             */
            sequence: number;
            /**
             * @description `pending`: will be tried again; `failed`: its config is disabled; `delivered`: the receiver took it.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @example 0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52 */
            taskId: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @description Where it goes, without the query.
             * @example https://hooks.example.com/parley
             */
            url: string;
        };
        EachBody: {
            /** @default 5 */
            concurrency: number;
            /**
             * @description CEL that gives a list.
             * @example inputs.words
             */
            items: string;
            /** @default 1000 */
            maxItems: number;
            /** @example 80% */
            minSuccess?: number | string;
            /**
             * @default fail
             * @enum {string}
             */
            onFailure: "fail" | "collect";
        };
        ExitBody: {
            /**
             * @description The id of a node.
             * @example notify
             */
            node: string;
            /**
             * @default always
             * @enum {string}
             */
            on: "success" | "failure" | "always";
        };
        ExpressionBody: {
            /**
             * @description The definition that it stands in, which may have other errors.
             * @example {
             *       "name": "publish",
             *       "nodes": [
             *         {
             *           "id": "gate",
             *           "type": "human"
             *         },
             *         {
             *           "id": "out",
             *           "type": "output"
             *         }
             *       ],
             *       "edges": [
             *         {
             *           "from": "gate",
             *           "to": "out"
             *         }
             *       ]
             *     }
             */
            definition?: {
                [key: string]: unknown;
            };
            /**
             * @description CEL.
             * @example nodes.gate.data.decision == 'yes'
             */
            expression?: string;
            /**
             * @description Where in the definition it stands, or will stand: of a node or an edge that is there.
             * @example edges[0].when
             * @example nodes[1].each.items
             * @example nodes[1].config.prompt
             */
            path?: string;
            /**
             * @description In place of an expression: JSON of which the texts may have ${expressions}, and {{references}}.
             * @example {
             *       "text": "Draft ${iteration} of {{topic}}"
             *     }
             */
            template?: Record<string, never>;
        };
        ExpressionProblems: {
            problems: components["schemas"]["WorkflowProblemView"][];
            /** @description What there is at the path; empty without one. */
            variables: components["schemas"]["ExpressionVariableView"][];
        };
        ExpressionVariableView: {
            /**
             * @description What may stand behind each member.
             * @example [
             *       "text",
             *       "data"
             *     ]
             */
            fields?: string[];
            /**
             * @description What may stand behind it; absent: whatever the value has.
             * @example [
             *       "gate"
             *     ]
             */
            members?: string[];
            /** @example nodes */
            name: string;
        };
        FallbackBody: {
            /**
             * @example [
             *       {
             *         "text": "Nobody knows"
             *       }
             *     ]
             */
            parts: Record<string, never>[];
        };
        FileListView: {
            files: components["schemas"]["FileView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        FileUrlBody: {
            /**
             * @description At most 24 hours.
             * @default 15m
             * @example 2h
             */
            expiresIn: string;
        };
        FileUrlView: {
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: uri
             * @example https://parley.example.com/files/019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41?expires=1790000000&signature=n4bQ
             */
            url: string;
        };
        FileView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the file may be deleted (FILE_RETENTION).
             */
            expiresAt?: string;
            /** @example 019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41 */
            id: string;
            /** @example application/pdf */
            mediaType: string;
            /** @example report.pdf */
            name: string;
            /**
             * @description Digest of the content, hexadecimal.
             * @example e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
             */
            sha256: string;
            /**
             * @description Bytes.
             * @example 48213
             */
            size: number;
            /**
             * Format: uri
             * @description Where its owner reads it; also the `url` of a Part.
             * @example https://parley.example.com/api/files/019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41
             */
            url: string;
        };
        GenerateBody: {
            /**
             * @description A definition to change. Nodes that the description does not concern stay as they are.
             * @example {
             *       "name": "summary",
             *       "nodes": [
             *         {
             *           "id": "text",
             *           "type": "input"
             *         }
             *       ]
             *     }
             */
            current?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description What the workflow does; with `current`, what changes in it.
             * @example Summarize a text in three sentences, then let a person approve the summary.
             */
            description: string;
            /**
             * @description The model that writes it: one of `/api/models`. Absent: `GENERATE_MODEL`, or the default model.
             * @example large
             */
            model?: string | null;
            /**
             * @description The name of the workflow. Absent: that of `current`, or one that the model chooses.
             * @example summary
             */
            name?: string | null;
        };
        GeneratedWorkflow: {
            /**
             * @description Answers of the model.
             * @example 1
             */
            attempts: number;
            /**
             * @description The model that wrote it.
             * @example large
             */
            model: string;
            /** @description Problems of the definition; errors first. */
            problems: components["schemas"]["WorkflowProblemView"][];
            usage: components["schemas"]["TokenUsage"];
            /**
             * @description The definition. It may have errors after the last repair: `problems` has them.
             * @example {
             *       "name": "summary",
             *       "nodes": [
             *         {
             *           "id": "text",
             *           "type": "input"
             *         }
             *       ],
             *       "edges": []
             *     }
             */
            workflow: {
                [key: string]: unknown;
            };
        };
        InboxItem: {
            /** @example editors */
            assignee?: string;
            /**
             * Format: date-time
             * @example 2026-02-02T09:30:00.000Z
             */
            deadline?: string;
            /**
             * @description The JSON Schema of the data that answers; absent: text does.
             * @example {
             *       "type": "object",
             *       "properties": {
             *         "decision": {
             *           "enum": [
             *             "yes",
             *             "no"
             *           ]
             *         }
             *       }
             *     }
             */
            form?: {
                [key: string]: unknown;
            };
            /**
             * @description What an answer names.
             * @example gate
             */
            instance: string;
            /** @example gate */
            node: string;
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string;
            /** @example Publish? */
            text: string;
            /** @example review */
            workflow: string;
        };
        InboxPage: {
            items: components["schemas"]["InboxItem"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        InstanceWait: {
            /**
             * @example timer
             * @example retry
             */
            state: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
        };
        KeyListView: {
            keys: components["schemas"]["KeyView"][];
        };
        KeySetView: {
            /**
             * @example [
             *       {
             *         "kty": "OKP",
             *         "crv": "Ed25519",
             *         "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
             *         "kid": "k1",
             *         "use": "sig"
             *       }
             *     ]
             */
            keys: {
                [key: string]: unknown;
            }[];
        };
        KeyView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Who made it; absent where the environment brought it.
             * @example admin
             */
            createdBy?: string;
            /**
             * Format: date-time
             * @description From then on it is not valid.
             */
            endsAt?: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /** @example ann */
            name: string;
            /**
             * @example [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "admin")[];
        };
        LastError: {
            /** Format: date-time */
            at: string;
            /** @example the agent answered 401 */
            message: string;
        };
        LlmConfigBody: {
            /**
             * @description The name of a stored credential with hosts, for every agent that can use it: in place of the key of its models, or of its auth. Never a secret itself.
             * @example team-key
             */
            credential_ref?: string;
            /** @example 2000 */
            max_tokens?: number;
            /** @example llama-4 */
            model?: string;
            /** @example openai-compatible */
            provider?: string;
            /** @example 0.7 */
            temperature?: number;
        };
        LoggedEventView: {
            /**
             * @description A StreamResponse of A2A, as SubscribeToTask sends it.
             * @example {
             *       "statusUpdate": {
             *         "taskId": "0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52",
             *         "contextId": "0190c1de-7a53-7f0c-9a57-2f8f0f6f3b53",
             *         "status": {
             *           "state": "TASK_STATE_WORKING",
             *           "timestamp": "2026-01-31T09:30:00.000Z"
             *         }
             *       }
             *     }
             */
            event: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was made.
             */
            recordedAt: string;
            /**
             * @description Its number in the log, from 1: the id of the same event in a stream.
             * @example 2
             */
            sequence: number;
        };
        LoopBody: {
            /** @example 10s */
            delay?: string;
            /**
             * @description CEL that gives true or false.
             * @example nodes.review.data.good
             */
            exit_when?: string;
            /** @example There is no draft yet. */
            initial?: string;
            /** @example 5 */
            max_iterations: number;
            /**
             * @default continue
             * @enum {string}
             */
            on_max: "continue" | "fail";
        };
        MadeKeyView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Who made it; absent where the environment brought it.
             * @example admin
             */
            createdBy?: string;
            /**
             * Format: date-time
             * @description From then on it is not valid.
             */
            endsAt?: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /**
             * @description What the caller sends; it is shown only in this answer.
             * @example parley_…
             */
            key: string;
            /** @example ann */
            name: string;
            /**
             * @example [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "admin")[];
        };
        MakeKeyBody: {
            /**
             * @description The caller: what it makes is owned under this name.
             * @example ann
             */
            name: string;
            /**
             * @default [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "admin")[];
        };
        McpAcceptBody: {
            /**
             * @description The `hash` of the tools that were looked at: others are not accepted.
             * @example qK3l0x7pS9n1
             */
            hash: string;
        };
        McpReplacementBody: {
            /**
             * @description The tools that may be called, with `*` and `?`; left out: all.
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @description The tools that somebody is asked about before an agent calls them.
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /**
             * @description The name of the credential that calls carry.
             * @example partner
             */
            auth?: string;
            /** @example github */
            name: string;
            /**
             * Format: uri
             * @description Where it speaks Streamable HTTP.
             * @example https://mcp.example.com/v1
             */
            url: string;
        };
        McpServerBody: {
            /**
             * @description The tools that may be called, with `*` and `?`; left out: all.
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @description The tools that somebody is asked about before an agent calls them.
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /**
             * @description The name of the credential that calls carry.
             * @example partner
             */
            auth?: string;
            /** @example github */
            name: string;
            /**
             * Format: uri
             * @description Where it speaks Streamable HTTP.
             * @example https://mcp.example.com/v1
             */
            url: string;
        };
        McpServerDetailView: {
            /** Format: date-time */
            acceptedAt?: string;
            /** @example ann */
            acceptedBy?: string;
            /**
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /** @example partner */
            auth?: string;
            /**
             * @description tool, kind, blocked, differences (path, kind, before?, after?), for each tool that is not as it was.
             * @example [
             *       {
             *         "tool": "search_code",
             *         "kind": "changed",
             *         "blocked": true,
             *         "differences": [
             *           {
             *             "path": "/description",
             *             "kind": "changed",
             *             "before": "Searches code",
             *             "after": "Searches all code"
             *           }
             *         ]
             *       }
             *     ]
             */
            changes?: {
                [key: string]: unknown;
            }[];
            /** Format: date-time */
            createdAt?: string;
            /**
             * @description Why it is unreachable.
             * @example HTTP 500
             */
            error?: string;
            /**
             * @description Of all tools, as they were seen last: what `accept` names.
             * @example qK3l0x7pS9n1
             */
            hash?: string;
            /** @example github */
            name: string;
            /** @description Tools that the server lists and that cannot be offered, each with its reason; absent without any. */
            skipped?: components["schemas"]["SkippedToolView"][];
            /**
             * @description `file`: from the file of the operator, and not to be changed here.
             * @enum {string}
             */
            source: "file" | "api";
            /**
             * @description `changed`: something waits to be accepted. In a list it is what is known, and absent of a server that was never seen.
             * @enum {string}
             */
            status?: "ok" | "changed" | "unreachable";
            tools: components["schemas"]["McpToolView"][];
            /** @enum {string} */
            transport: "http" | "stdio";
            /** Format: date-time */
            updatedAt?: string;
            /** @example https://mcp.example.com/v1 */
            url?: string;
        };
        McpServerListView: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            servers: components["schemas"]["McpServerView"][];
        };
        McpServerView: {
            /**
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /** @example partner */
            auth?: string;
            /** Format: date-time */
            createdAt?: string;
            /** @example github */
            name: string;
            /**
             * @description `file`: from the file of the operator, and not to be changed here.
             * @enum {string}
             */
            source: "file" | "api";
            /**
             * @description `changed`: something waits to be accepted. In a list it is what is known, and absent of a server that was never seen.
             * @enum {string}
             */
            status?: "ok" | "changed" | "unreachable";
            /** @enum {string} */
            transport: "http" | "stdio";
            /** Format: date-time */
            updatedAt?: string;
            /** @example https://mcp.example.com/v1 */
            url?: string;
        };
        McpToolView: {
            /** @description Whether `allow` names it. */
            allowed: boolean;
            /**
             * @example {
             *       "readOnlyHint": true
             *     }
             */
            annotations: {
                [key: string]: unknown;
            };
            /** @description Whether it may not be called until a change is accepted. */
            blocked: boolean;
            /**
             * @description As the server says it.
             * @example Searches code
             */
            description: string;
            /** @example qK3l0x7pS9n1 */
            hash: string;
            /**
             * @example {
             *       "type": "object"
             *     }
             */
            inputSchema: {
                [key: string]: unknown;
            };
            /** @example search_code */
            name: string;
            /** @description Whether `approve` names it. */
            needsApproval: boolean;
        };
        ModelBody: {
            /**
             * @description The name of the credential that calls carry: `bearer` for OpenAI, `api-key` for Anthropic and Google.
             * @example provider-key
             */
            auth?: string;
            /**
             * Format: uri
             * @description Where the provider is; needed for `openai-compatible`, as `https://models.example.com/v1`.
             * @example https://models.example.com/v1
             */
            baseUrl?: string;
            /**
             * @description Media types of Parts that it takes beside text and data.
             * @default []
             * @example [
             *       "image/*",
             *       "application/pdf"
             *     ]
             */
            input: string[];
            /**
             * @description Its name at the provider.
             * @example gpt-large
             */
            model: string;
            /**
             * @description By which nodes name it; never `echo`.
             * @example large
             */
            name: string;
            /** @enum {string} */
            provider: "openai-compatible" | "openai" | "anthropic" | "google";
        };
        ModelListView: {
            models: components["schemas"]["ModelView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        ModelView: {
            /** @example provider-key */
            auth?: string;
            /**
             * Format: uri
             * @example https://models.example.com/v1
             */
            baseUrl?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * @example [
             *       "image/*"
             *     ]
             */
            input: string[];
            /** @example gpt-large */
            model: string;
            /** @example large */
            name: string;
            /** @enum {string} */
            provider: "openai-compatible" | "openai" | "anthropic" | "google";
            /** Format: date-time */
            updatedAt: string;
        };
        OAuth2Body: {
            /** @example https://api.example.com */
            audience?: string;
            /**
             * @default basic
             * @enum {string}
             */
            clientAuthentication: "basic" | "body";
            /** @example parley */
            clientId: string;
            /** @example s3cr3t */
            clientSecret: string;
            /**
             * @description The only places that it is sent to: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Left out: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "oauth2-client-credentials";
            /** @example partner */
            name: string;
            /**
             * @default []
             * @example [
             *       "agents.read"
             *     ]
             */
            scopes: string[];
            /**
             * Format: uri
             * @example https://login.example.com/token
             */
            tokenUrl: string;
        };
        OutputBody: {
            parse?: boolean;
            /**
             * @example {
             *       "type": "object"
             *     }
             */
            schema?: {
                [key: string]: unknown;
            };
        };
        PassAgentView: {
            /** @example ann */
            agent: string;
            /** @example the agent gave no state */
            error?: string;
            /**
             * @description Number of answers that the agent sent back to its model.
             * @example 2
             */
            repairs?: number;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
            /** @enum {string} */
            status: "pending" | "running" | "completed" | "failed" | "canceled";
            usage?: components["schemas"]["TokenUsageView"];
        };
        PassView: {
            agents: components["schemas"]["PassAgentView"][];
            /**
             * @description Absent until the pass is complete.
             * @example 0.8
             */
            confidence?: number;
            /** @example 2 */
            iteration: number;
        };
        PlanStepView: {
            /** @example Ask the town hall for a room with a workbench. */
            description: string;
            /** @example Find a room */
            title: string;
        };
        PositionBody: {
            /** @example 120 */
            x: number;
            /** @example 80 */
            y: number;
        };
        Problem: {
            /** @example nodes[0].id: must be a string */
            detail: string;
            /** @description One entry for each thing that is wrong. */
            errors?: components["schemas"]["ProblemEntry"][];
            /**
             * @description The path that was called.
             * @example /api/workflows
             */
            instance?: string;
            /**
             * @description What it is about, for programs: `NOT_FOUND`, `IDEMPOTENCY_CONFLICT`, …
             * @example MALFORMED
             */
            reason: string;
            /**
             * @description Names the request; the log names it too where it says why.
             * @example 5d1a4c1e-7a53-4f0c-9a57-2f8f0f6f3b52
             */
            requestId?: string;
            /** @example 400 */
            status: number;
            /** @example Bad Request */
            title: string;
            /**
             * @description The trace that the request belongs to, where it came with a `traceparent`.
             * @example 4bf92f3577b34da6a3ce929d0e0e4736
             */
            trace_id?: string;
            /** @example about:blank */
            type: string;
        };
        ProblemEntry: {
            /**
             * @description What kind of fault it is, for programs.
             * @example UNKNOWN_REFERENCE
             */
            code?: string;
            /** @example must be a string */
            detail: string;
            /**
             * @description The field at fault; `''` where it is the whole.
             * @example nodes[0].id
             */
            path: string;
        };
        RerunBody: {
            /**
             * @description Whether all that failed is run anew, with everything after it.
             * @example false
             */
            failed?: boolean;
            /**
             * @description Nodes or instances that are run anew, with everything after them.
             * @example [
             *       "draft",
             *       "tr[17]"
             *     ]
             */
            from?: string[];
            /**
             * @description Other inputs, all of them.
             * @example {
             *       "topic": "tea"
             *     }
             */
            inputs?: {
                [key: string]: unknown;
            };
            /**
             * @description Another revision of the workflow; the run's own unless named.
             * @example 12
             */
            revision?: string;
        };
        RetryBody: {
            /** @example 3 */
            attempts: number;
            /** @default 1s */
            delay: string;
            /** @default 2 */
            factor: number;
            /** @default 0.5 */
            jitter: number;
            /** @default 1m */
            maxDelay: string;
            /**
             * @example [
             *       "timeout",
             *       "server-error"
             *     ]
             */
            on?: string[];
            /**
             * @description CEL that gives true or false.
             * @example error.kind != 'failed'
             */
            when?: string;
        };
        RevisionPage: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            revisions: components["schemas"]["SavedRevision"][];
        };
        RiskView: {
            resolved: boolean;
            /** @enum {string} */
            severity: "low" | "medium" | "high" | "critical";
            /** @example Tools come back broken */
            text: string;
        };
        RotateKeyBody: {
            /**
             * @description How long the old key is valid beside the new one.
             * @default 0
             * @example 600
             */
            overlapSeconds: number;
        };
        RunBody: {
            /**
             * @description The inputs by node id.
             * @example {
             *       "name": "Ada"
             *     }
             */
            inputs?: {
                [key: string]: unknown;
            };
        };
        RunDetail: {
            artifacts: {
                [key: string]: {
                    [key: string]: unknown;
                }[];
            };
            /** @description What became of each remote Task, once it was canceled. */
            children?: components["schemas"]["CanceledNode"][];
            /** @example 0d5f3a52-8c0e-4f0b-9a53-1f6f1c1d2e3f */
            contextId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["RunFailure"];
            /**
             * @example {
             *       "name": "Ada"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            nodes: {
                [key: string]: components["schemas"]["RunNode"];
            };
            /**
             * @description The run that it began with, where it is a rerun.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /** @description A2A Artifacts. */
            result?: {
                [key: string]: unknown;
            }[];
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @description The inputs, and the text of each node.
             * @example {
             *       "topic": "world",
             *       "writer": "Hello, world!"
             *     }
             */
            state: {
                [key: string]: unknown;
            };
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
            /**
             * @description The trace that it belongs to.
             * @example 4bf92f3577b34da6a3ce929d0e0e4736
             */
            trace_id: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
            /** @example greeting */
            workflow: string;
        };
        RunFailure: {
            /**
             * @description Where a node has more than one.
             * @example writer@2
             */
            instance?: string;
            /**
             * @description Why it failed, as `retry` names it.
             * @example timeout
             */
            kind: string;
            /** @example node "writer": the model gave no answer */
            message: string;
            /** @example writer */
            node?: string;
        };
        RunFork: {
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
        };
        RunForks: {
            /** @description The newest first. */
            forks: components["schemas"]["RunFork"][];
        };
        RunInstance: {
            /** @example 1 */
            attempts: number;
            /** @enum {string} */
            because?: "off" | "broken" | "out-of-reach" | "failure" | "canceled";
            error?: components["schemas"]["RunFailure"];
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt?: string;
            /** @example draft@2 */
            instance: string;
            /** @example draft */
            node: string;
            /**
             * @description The run that its result was taken over from.
             * @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70
             */
            origin?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
            /** @description While nothing is done: for what, and until when. */
            waitsFor?: components["schemas"]["InstanceWait"];
        };
        RunInstances: {
            /** @description In the order in which they came to be. */
            instances: components["schemas"]["RunInstance"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        RunNode: {
            /** @example https://parley.example/a2a/workflows/greeting/nodes/writer */
            agentUrl: string;
            /** @description A2A Artifacts. */
            artifacts: {
                [key: string]: unknown;
            }[];
            /** @example 1 */
            attempts: number;
            /**
             * @description Of a node that runs more than once: how many instances of it there are, and how many in each status.
             * @example {
             *       "total": 3,
             *       "completed": 2,
             *       "failed": 1
             *     }
             */
            counts?: {
                [key: string]: number;
            };
            /** @example the model gave no answer */
            error?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt?: string;
            /**
             * @description The run that its result was taken over from.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
            /** @description While it waits: for an answer, a time, or to be tried again. */
            waitsFor?: components["schemas"]["RunNodeWait"];
        };
        RunNodeDetail: {
            /** @example https://parley.example/a2a/workflows/greeting/nodes/writer */
            agentUrl: string;
            /** @description A2A Artifacts. */
            artifacts: {
                [key: string]: unknown;
            }[];
            /** @example 1 */
            attempts: number;
            /**
             * @description Of a node that runs more than once: how many instances of it there are, and how many in each status.
             * @example {
             *       "total": 3,
             *       "completed": 2,
             *       "failed": 1
             *     }
             */
            counts?: {
                [key: string]: number;
            };
            /** @example the model gave no answer */
            error?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt?: string;
            /** @example writer */
            id: string;
            /**
             * @description A2A Parts; absent while it was never started.
             * @example [
             *       {
             *         "text": "Hello, world!"
             *       }
             *     ]
             */
            input?: {
                [key: string]: unknown;
            }[];
            /**
             * @description The run that its result was taken over from.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
            /** @example agent */
            type: string;
            /** @description While it waits: for an answer, a time, or to be tried again. */
            waitsFor?: components["schemas"]["RunNodeWait"];
        };
        RunNodeWait: {
            /**
             * @description What its agent says; for a node with a list, the questions of its entries, a line each.
             * @example Which language?
             */
            message?: string;
            /** @enum {string} */
            state: "input-required" | "auth-required" | "timer" | "retry";
            /**
             * Format: date-time
             * @description Until when nothing is done.
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
        };
        RunPage: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            runs: components["schemas"]["RunSummary"][];
        };
        RunSummary: {
            /** @example 0d5f3a52-8c0e-4f0b-9a53-1f6f1c1d2e3f */
            contextId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["RunFailure"];
            /**
             * @example {
             *       "name": "Ada"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /** @description A2A Artifacts. */
            result?: {
                [key: string]: unknown;
            }[];
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
            /** @example greeting */
            workflow: string;
        };
        SavedRevision: {
            /** @example 7 */
            revision: string;
            /** Format: date-time */
            savedAt: string;
        };
        SavedWorkflowView: {
            /**
             * @description The JSON Schema of definitions, for editors; it is kept.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets whoever it is told of. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description 2: `${…}` in texts is an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Where the path names the workflow, the path counts.
             * @example greeting
             */
            name: string;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Nodes at work at once.
             * @example 20
             */
            parallel?: number;
            /** @description What its author is told of; absent: nothing. */
            problems?: components["schemas"]["WorkflowProblemView"][];
            /**
             * @description Grows with every save.
             * @example 7
             */
            revision: string;
            /** Format: date-time */
            updatedAt: string;
        };
        SentWorkflow: {
            definition: components["schemas"]["WorkflowBody"];
            /**
             * @description The revision that it has to have until now; null: there must be none. Absent: whichever it has.
             * @example 7
             */
            revision?: string | null;
        };
        SkippedToolView: {
            /**
             * @description As the server gives it; empty where it gives none.
             * @example search
             */
            name: string;
            /** @example has no inputSchema that is an object */
            reason: string;
        };
        SourceView: {
            /** @example ann */
            agent: string;
            /** @example 2 */
            iteration: number;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
        };
        StartedRerun: {
            /**
             * @description The run that it begins with.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin: string;
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        StartedRun: {
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        StateAgentView: {
            /** @example agent-1 */
            agent_id: string;
            /** @example llama-4 */
            model: string;
            /** @example ann */
            name: string;
            /** @example openai-compatible */
            provider: string;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
            /**
             * @example [
             *       "security"
             *     ]
             */
            skills: string[];
        };
        StateMeta: {
            agents: components["schemas"]["StateAgentView"][];
            /** @example 2 */
            iteration: number;
        };
        StateMetrics: {
            /** @example 0.8 */
            confidence: number;
        };
        StoppedAgentView: {
            /** @example ann */
            agent: string;
            /** @example acknowledged */
            outcome: string;
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
        };
        TakenAnswer: {
            /**
             * @description The instance that was answered.
             * @example gate
             */
            instance: string;
            /**
             * @description The A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        TaskLogView: {
            events: components["schemas"]["LoggedEventView"][];
            /**
             * @description What the next page comes `after`; absent on the last one.
             * @example 100
             */
            next?: number;
        };
        TicketView: {
            /** Format: date-time */
            expiresAt: string;
            /**
             * @description What to give to `new WebSocket(url, protocols)`.
             * @example [
             *       "parley.events",
             *       "parley.ticket.mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t"
             *     ]
             */
            protocols: string[];
            /** @example mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t */
            ticket: string;
        };
        TokenUsage: {
            /** @example 9120 */
            inputTokens: number;
            /** @example 640 */
            outputTokens: number;
        };
        TokenUsageView: {
            /** @example 2 */
            inputTokens: number;
            /** @example 2 */
            outputTokens: number;
        };
        TurnBody: {
            /** @example Make it rhyme. */
            text: string;
        };
        UploadedView: {
            files: components["schemas"]["FileView"][];
        };
        WaitBody: {
            /** @example 48h */
            deadline: string;
            /**
             * @example {
             *       "decision": "no"
             *     }
             */
            default?: Record<string, never> | string;
        };
        WorkflowBody: {
            /**
             * @description The JSON Schema of definitions, for editors; it is kept.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /**
             * @description Of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets whoever it is told of. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description 2: `${…}` in texts is an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Where the path names the workflow, the path counts.
             * @example greeting
             */
            name: string;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Nodes at work at once.
             * @example 20
             */
            parallel?: number;
        };
        WorkflowEdgeBody: {
            /**
             * @description The id of a node.
             * @example topic
             */
            from: string;
            /** @description Makes it an edge back, which repeats what lies between its ends. */
            loop?: components["schemas"]["LoopBody"];
            /**
             * @default success
             * @enum {string}
             */
            on: "success" | "failure" | "always";
            /**
             * @description The id of a node.
             * @example writer
             */
            to: string;
            /**
             * @description CEL that gives true or false.
             * @example nodes.gate.data.decision == 'yes'
             */
            when?: string;
        };
        WorkflowNodeBody: {
            /**
             * @default every
             * @enum {string}
             */
            branch: "every" | "first";
            /**
             * @example {
             *       "prompt": "Greet {{topic}}"
             *     }
             */
            config?: {
                [key: string]: unknown;
            };
            /** @description Runs the node once for each entry of a list. */
            each?: components["schemas"]["EachBody"];
            /** @description Its result where no attempt succeeds. */
            fallback?: components["schemas"]["FallbackBody"];
            /** @example writer */
            id: string;
            /** @default all */
            join: ("all" | "any") | Record<string, never>;
            /** @description What becomes of its questions that nobody answers. */
            onWait?: components["schemas"]["WaitBody"];
            /** @description What its result has to look like. */
            output?: components["schemas"]["OutputBody"];
            /** @description Where an editor draws the node. */
            position?: components["schemas"]["PositionBody"];
            /** @description When a failed attempt is made again. */
            retry?: components["schemas"]["RetryBody"];
            /**
             * @description Of one attempt.
             * @example 2m
             */
            timeout?: string;
            /**
             * @example input
             * @example agent
             * @example tool
             * @example output
             * @example external
             * @example script
             * @example set
             * @example wait
             * @example human
             * @example workflow
             * @example conversation
             * @example brainstorm
             */
            type: string;
        };
        WorkflowProblems: {
            problems: components["schemas"]["WorkflowProblemView"][];
        };
        WorkflowProblemView: {
            /**
             * @example UNKNOWN_REFERENCE
             * @example UNCONNECTED
             * @example INVALID_CONFIG
             */
            code: string;
            /** @example node "writer": {{nope}} stands for nothing */
            detail: string;
            /**
             * @description The place of the edge that it is about.
             * @example 0
             */
            edge?: number;
            /**
             * @description The id of the node that it is about.
             * @example writer
             */
            node?: string;
            /**
             * @description Where in the text at the path it begins, in UTF-16 code units.
             * @example 6
             */
            offset?: number;
            /** @example nodes[1].config.prompt */
            path: string;
            /** @enum {string} */
            severity: "error" | "warning";
        };
        WorkflowView: {
            /**
             * @description The JSON Schema of definitions, for editors; it is kept.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets whoever it is told of. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description 2: `${…}` in texts is an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Where the path names the workflow, the path counts.
             * @example greeting
             */
            name: string;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Nodes at work at once.
             * @example 20
             */
            parallel?: number;
            /**
             * @description Grows with every save.
             * @example 7
             */
            revision: string;
            /** Format: date-time */
            updatedAt: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listSigningKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeySetView"];
                };
            };
        };
    };
    previewAgentCard: {
        parameters: {
            query?: {
                /** @description The agent's base URL, or its card's. */
                url?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardPreviewView"];
                };
            };
            /** @description The URL is missing or malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAgentCards: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "pinned" | "changed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardPageView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAgentCard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardDetailView"];
                };
            };
            /** @description There is no such card. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    acceptAgentCard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcceptBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardDetailView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such card. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No such change waits to be accepted. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sendAgentMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentMessageBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example data: {"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}} */
                    "text/event-stream": string;
                };
            };
            /** @description The URL or the Message is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    applyWorkflows: {
        parameters: {
            query?: {
                /** @description Whether it is only said what would be done. */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppliedView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow has another revision than was expected, or `adopt` is false and it is not of this mark. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A graph is invalid: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listBrainstorms: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "active" | "converged" | "approved" | "failed" | "canceled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startBrainstorm: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body: the same brainstorm. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrainstormBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormId"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another brainstorm was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An agent is not available, or a value is not allowed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormView"];
                };
            };
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approveBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormStatusReport"];
                };
            };
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No pass is complete yet, or the brainstorm has ended otherwise. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormStatusReport"];
                };
            };
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The brainstorm has ended otherwise. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamBrainstormEvents: {
        parameters: {
            query?: {
                /** @description The number of the last event that was seen. */
                since?: unknown;
            };
            header?: {
                /** @description As `since`, and before it. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `brainstorm.converged`, `.failed`, `.approved` or `.canceled`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: brainstorm.converged
                     *     data: {"type":"brainstorm.converged","sequence":7}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The cursor is malformed or beyond the last event. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    iterateBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormStatusReport"];
                };
            };
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The brainstorm has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "active" | "complete";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body: the same conversation. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another conversation was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A number is out of its range, or an agent is not known. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetail"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetail"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended otherwise. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamConversationEvents: {
        parameters: {
            query?: {
                /** @description The number of the last event that was seen. */
                since?: unknown;
            };
            header?: {
                /** @description As `since`, and before it. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `a2a` with the phase `complete`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: a2a
                     *     data: {"stream":"a2a","cseq":7,"data":{"phase":"complete"},"outcome":"done"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The cursor is malformed or beyond the last event. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pauseConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stopConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    injectTurn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCredentials: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createCredential: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyBody"] | components["schemas"]["BearerBody"] | components["schemas"]["BasicBody"] | components["schemas"]["OAuth2Body"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is a credential of this name. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The tenant keeps as many credentials as it may. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            /** @description credential not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replaceCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyBody"] | components["schemas"]["BearerBody"] | components["schemas"]["BasicBody"] | components["schemas"]["OAuth2Body"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description credential not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description credential not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow, a model or an MCP server names it. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "pending" | "delivered" | "failed";
                taskId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPageView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redeliverNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryView"];
                };
            };
            /** @description delivery not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Its config was deleted. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                contextId?: string;
                conversationId?: string;
                runId?: string;
                /** @description The cursor of the last frame; so is `Last-Event-ID`. */
                since?: string;
                /** @description Names separated by commas; all but `tool` by default. */
                streams?: string;
                taskId?: string;
            };
            header?: {
                /** @description As `since`, and before it. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the cursor, `data` the frame as JSON. The first one is a hello. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: mfx1k2
                     *     data: {"type":"hello","cursor":"mfx1k2"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The cursor is too old. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    checkExpression: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExpressionBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExpressionProblems"];
                };
            };
            /** @description The body is malformed, or its definition, or there is nothing at the path. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listFiles: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                /** @description Files whose names contain this text, in any case. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes. */
                Range?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The range of the content. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The client has the content already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description file not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The range is beyond the content. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description file not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Tasks of the caller name the file, which is kept as long as they are. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createFileUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FileUrlBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileUrlView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description file not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    generateWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GenerateBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneratedWorkflow"];
                    /**
                     * @example event: generate.started
                     *     data: {"model":"large"}
                     *
                     *     event: done
                     *     data: {"workflow":{"name":"summary","nodes":[],"edges":[]},"problems":[],"attempts":1,"model":"large","usage":{"inputTokens":9120,"outputTokens":640}}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The description or `current` is too long. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The description is blank, there is no such model, or no model at all (`NO_MODEL`). */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Two requests of the caller, or twelve of its tenant, are under way; `Retry-After` says when to retry. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The model failed (`MODEL_FAILED`), or its answer is no definition (`GENERATION_FAILED`). */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Sixteen requests of all callers are under way at this replica, or it is about to stop. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The model was not done in time (`GENERATION_FAILED`). */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listQuestions: {
        parameters: {
            query?: {
                /** @description Only questions with this label. */
                assignee?: string;
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyListView"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MakeKeyBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeKeyView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description There is no such key. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKeyBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeKeyView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such key, or it is not valid any more. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMcpServers: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpServerBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is a server of this name. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A program is started only from the file of the operator; or the tenant keeps as many servers as it may. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerDetailView"];
                };
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replaceMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is one of the file of the operator. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A program is started only from the file of the operator. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is one of the file of the operator. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    acceptMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpAcceptBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerDetailView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No such change waits to be accepted. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listModels: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createModel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is a model of this name. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The tenant keeps as many models as it may. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
                };
            };
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replaceModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow names it. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                /** @description The runs that nodes of this run are; without it only those that are no nodes are listed. */
                parent?: string;
                /** @description What the workflow's name has in it, in any case of letters, or the run's id begins with. */
                q?: string;
                /** @description Runs that have changed since then. */
                since?: string;
                status?: "running" | "input-required" | "completed" | "failed" | "canceled";
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    answerQuestion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TakenAnswer"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found, or node not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The node asks nothing, or asks no more. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answer does not fit the form of the question, or the agent of the node cannot read it. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CanceledRun"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The run has ended otherwise. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamRunEvents: {
        parameters: {
            query?: {
                /** @description Whether what comes is waited for; `false`: the stream ends with the last event so far. */
                live?: boolean;
                /** @description The number of the last event that was seen. */
                since?: unknown;
            };
            header?: {
                /** @description As `since`, and before it. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `done`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: done
                     *     data: {"type":"done","sequence":7}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The cursor is malformed or beyond the last event. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listForks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunForks"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInstances: {
        parameters: {
            query?: {
                node?: string;
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunInstances"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRunNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunNodeDetail"];
                };
            };
            /** @description run not found, or node not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startRerun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body: the same run. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RerunBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRerun"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description The run has not ended.
             *
             *     Another run was started under this Idempotency-Key.
             */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such instance or revision, or the inputs do not fit. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRunWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowBody"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskEvents: {
        parameters: {
            query?: {
                /** @description The events after this one; `next` of the page before. */
                after?: number;
                /** @description How many at most; a page ends after a megabyte, too. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLogView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description task not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTicket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketView"];
                };
            };
        };
    };
    uploadFiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    file: string[];
                };
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedView"];
                };
            };
            /** @description The form or a name is malformed, or the body broke off. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A file is larger than FILE_LIMIT, or the caller stores as much as it may (FILES_QUOTA). */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Four uploads of the caller, or 48 of its tenant, are under way. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Files cannot be stored at the moment, or 64 uploads of all callers are under way. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The `Next-Page-Token` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    /** @description The next page, with `rel="next"`. */
                    Link?: string;
                    /** @description Absent on the last page. */
                    "Next-Page-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"][];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWorkflow: {
        parameters: {
            query?: {
                /** @description Whether warnings, such as of references that stand for nothing, are refused like errors. */
                strict?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is a workflow of this name. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The graph is invalid: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that is known: 304 where it is the newest. */
                "If-None-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    saveWorkflow: {
        parameters: {
            query?: {
                /** @description Whether warnings, such as of references that stand for nothing, are refused like errors. */
                strict?: boolean;
            };
            header?: {
                /** @description The ETag of the revision to replace; `*`: any. */
                "If-Match"?: string;
                /** @description `*`: only where there is none of this name. */
                "If-None-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowBody"];
            };
        };
        responses: {
            /** @description It was replaced. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description There was none of this name. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The condition of the request does not hold. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The graph is invalid: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the revision to delete. */
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description If-Match is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The condition of the request does not hold. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWorkflowRevisions: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowRevision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                revision: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    runWorkflow: {
        parameters: {
            query?: {
                /** @description Whether the run is canceled when its reader leaves. */
                cancelOnDisconnect?: boolean;
            };
            header?: {
                /** @description The same key and body: the same run. */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunBody"];
            };
        };
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `done`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: done
                     *     data: {"type":"done","sequence":7}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The parameter is malformed, or the inputs are nested too deep. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another run was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An input is missing, unknown or invalid: one entry each. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and body: the same run. */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another run was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An input is missing, unknown or invalid: one entry each. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    checkWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowProblems"];
                };
            };
        };
    };
    readSignedFile: {
        parameters: {
            query?: {
                /** @description Unix time in seconds until which the address is valid. */
                expires?: string;
                /** @description Signature of the address. */
                signature?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The address is of no file, was altered, or is not valid any more. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The range is beyond the content. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Health Check is successful */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /** @example {} */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example ok
                         * @enum {string}
                         */
                        status?: "ok" | "degraded";
                    };
                };
            };
            /** @description The Health Check is not successful */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       },
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /**
                         * @example {
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example error
                         * @enum {string}
                         */
                        status?: "error" | "shutting_down";
                    };
                };
            };
        };
    };
    getStartup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Health Check is successful */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /** @example {} */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example ok
                         * @enum {string}
                         */
                        status?: "ok" | "degraded";
                    };
                };
            };
            /** @description The Health Check is not successful */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       },
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /**
                         * @example {
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example error
                         * @enum {string}
                         */
                        status?: "error" | "shutting_down";
                    };
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example # HELP parley_tasks_total Tasks
                     *     # TYPE parley_tasks_total counter
                     *     parley_tasks_total 7
                     */
                    "text/plain": string;
                };
            };
        };
    };
    getWorkflowSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
}
