// Package v1 is the agent and the client on a2a-go 2, which speaks A2A 1.0.
package v1

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"

	"peers/program"
)

type agent struct{}

func (agent) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		text := textOf(call.Message)
		if call.StoredTask != nil {
			answer(call, yield, a2a.NewTextPart("["+text+"]"))
			return
		}
		if !yield(a2a.NewSubmittedTask(call, call.Message), nil) || !yield(status(call, a2a.TaskStateWorking, ""), nil) {
			return
		}
		word, path, _ := strings.Cut(text, " ")
		switch word {
		case "tell":
			tell(ctx, call, path, yield)
		case "ask":
			yield(status(call, a2a.TaskStateInputRequired, "Which tea?"), nil)
		case "wait":
			<-ctx.Done()
		case "fail":
			yield(status(call, a2a.TaskStateFailed, "no tea left"), nil)
		case "throw":
			yield(nil, errors.New("the kettle broke"))
		case "context":
			answer(call, yield, a2a.NewTextPart(call.ContextID))
		default:
			var others []*a2a.Part
			for _, part := range call.Message.Parts {
				if part.Text() == "" {
					others = append(others, part)
				}
			}
			answer(call, yield, others...)
		}
	}
}

func (agent) Cancel(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(status(call, a2a.TaskStateCanceled, ""), nil)
	}
}

func tell(ctx context.Context, call *a2asrv.ExecutorContext, path string, yield func(a2a.Event, error) bool) {
	begun := a2a.NewArtifactEvent(call, a2a.NewTextPart("one "))
	if !yield(begun, nil) {
		return
	}
	program.WaitFor(ctx, path)
	done := a2a.NewArtifactUpdateEvent(call, begun.Artifact.ID, a2a.NewTextPart("two"))
	done.LastChunk = true
	if yield(done, nil) {
		yield(status(call, a2a.TaskStateCompleted, ""), nil)
	}
}

func answer(call *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool, parts ...*a2a.Part) {
	if yield(a2a.NewArtifactEvent(call, parts...), nil) {
		yield(status(call, a2a.TaskStateCompleted, ""), nil)
	}
}

func status(call *a2asrv.ExecutorContext, state a2a.TaskState, text string) a2a.Event {
	var message *a2a.Message
	if text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, call, a2a.NewTextPart(text))
	}
	return a2a.NewStatusUpdateEvent(call, state, message)
}

func textOf(message *a2a.Message) string {
	for _, part := range message.Parts {
		if text := part.Text(); text != "" {
			return text
		}
	}
	return ""
}

// Serve serves the agent until the process ends.
func Serve(binding, port, cardPort, address string) {
	card := &a2a.AgentCard{
		Name:         "tea",
		Description:  "Tells, asks and waits",
		Version:      "1.0.0",
		Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(address, a2a.TransportProtocol(binding)),
		},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "tea", Name: "Tea", Description: "Tea", Tags: []string{"tea"}}},
	}
	if program.Key != "" {
		scheme := a2a.APIKeySecurityScheme{Location: "header", Name: "x-api-key"}
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"key": scheme}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"key": {}}}
	}
	if program.Tokens != "" {
		flow := a2a.ClientCredentialsOAuthFlow{TokenURL: program.Tokens, Scopes: map[string]string{}}
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"tokens": a2a.OAuth2SecurityScheme{Flows: flow}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"tokens": {}}}
	}
	pushes := a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil))
	handler := a2asrv.NewHandler(agent{}, pushes)
	http.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	switch binding {
	case "JSONRPC":
		http.Handle("/", program.Guard(a2asrv.NewJSONRPCHandler(handler)))
	case "HTTP+JSON":
		http.Handle("/", program.Guard(a2asrv.NewRESTHandler(handler)))
	default:
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
