// Package v03 is the agent and the client on a2a-go 0.3, which speaks A2A 0.3.
package v03

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2agrpc"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"

	"peers/program"
)

type agent struct{}

// turn writes the events of a call, until one of them fails.
type turn struct {
	ctx   context.Context
	call  *a2asrv.RequestContext
	queue eventqueue.Queue
	err   error
}

func (agent) Execute(ctx context.Context, call *a2asrv.RequestContext, queue eventqueue.Queue) error {
	it := &turn{ctx: ctx, call: call, queue: queue}
	text := textOf(call.Message)
	if call.StoredTask != nil {
		it.answer(a2a.TextPart{Text: "[" + text + "]"})
		return it.err
	}
	it.write(a2a.NewSubmittedTask(call, call.Message))
	it.status(a2a.TaskStateWorking, "")
	word, path, _ := strings.Cut(text, " ")
	switch word {
	case "tell":
		it.tell(path)
	case "ask":
		it.status(a2a.TaskStateInputRequired, "Which tea?")
	case "wait":
		<-ctx.Done()
	case "fail":
		it.status(a2a.TaskStateFailed, "no tea left")
	case "throw":
		return errors.New("the kettle broke")
	case "context":
		it.answer(a2a.TextPart{Text: call.ContextID})
	default:
		var others []a2a.Part
		for _, part := range call.Message.Parts {
			if _, isText := part.(a2a.TextPart); !isText {
				others = append(others, part)
			}
		}
		it.answer(others...)
	}
	return it.err
}

func (agent) Cancel(ctx context.Context, call *a2asrv.RequestContext, queue eventqueue.Queue) error {
	it := &turn{ctx: ctx, call: call, queue: queue}
	it.status(a2a.TaskStateCanceled, "")
	return it.err
}

func (it *turn) write(event a2a.Event) {
	if it.err == nil {
		it.err = it.queue.Write(it.ctx, event)
	}
}

func (it *turn) status(state a2a.TaskState, text string) {
	var message *a2a.Message
	if text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, it.call, a2a.TextPart{Text: text})
	}
	event := a2a.NewStatusUpdateEvent(it.call, state, message)
	event.Final = state.Terminal() || state == a2a.TaskStateInputRequired
	it.write(event)
}

func (it *turn) tell(path string) {
	begun := a2a.NewArtifactEvent(it.call, a2a.TextPart{Text: "one "})
	it.write(begun)
	program.WaitFor(it.ctx, path)
	done := a2a.NewArtifactUpdateEvent(it.call, begun.Artifact.ID, a2a.TextPart{Text: "two"})
	done.LastChunk = true
	it.write(done)
	it.status(a2a.TaskStateCompleted, "")
}

func (it *turn) answer(parts ...a2a.Part) {
	it.write(a2a.NewArtifactEvent(it.call, parts...))
	it.status(a2a.TaskStateCompleted, "")
}

func textOf(message *a2a.Message) string {
	for _, part := range message.Parts {
		if text, isText := part.(a2a.TextPart); isText {
			return text.Text
		}
	}
	return ""
}

// Serve serves the agent until the process ends.
func Serve(binding, port, cardPort, address string) {
	card := &a2a.AgentCard{
		Name:               "tea",
		Description:        "Tells, asks and waits",
		Version:            "1.0.0",
		ProtocolVersion:    string(a2a.Version),
		URL:                address,
		PreferredTransport: a2a.TransportProtocol(binding),
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "tea", Name: "Tea", Description: "Tea", Tags: []string{"tea"}}},
	}
	if program.Key != "" {
		scheme := a2a.APIKeySecurityScheme{In: "header", Name: "x-api-key"}
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"key": scheme}
		card.Security = []a2a.SecurityRequirements{{"key": {}}}
	}
	if program.Tokens != "" {
		flow := &a2a.ClientCredentialsOAuthFlow{TokenURL: program.Tokens, Scopes: map[string]string{}}
		scheme := a2a.OAuth2SecurityScheme{Flows: a2a.OAuthFlows{ClientCredentials: flow}}
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"tokens": scheme}
		card.Security = []a2a.SecurityRequirements{{"tokens": {}}}
	}
	pushes := a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil))
	handler := a2asrv.NewHandler(agent{}, pushes)
	http.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	if binding == "JSONRPC" {
		http.Handle("/", program.Guard(a2asrv.NewJSONRPCHandler(handler)))
	} else {
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			panic(err)
		}
		server := program.GrpcServer()
		a2agrpc.NewHandler(handler).RegisterWith(server)
		go server.Serve(listener)
	}
	panic(program.Serve(cardPort))
}
