// Agent that works until a file is there, and calls webhooks. Arguments: its port, and the path of the file.
package main

import (
	"context"
	"iter"
	"net/http"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

type worker struct{ release string }

func (w worker) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		begun := a2a.NewArtifactEvent(call, a2a.NewTextPart("begun"))
		done := a2a.NewArtifactUpdateEvent(call, begun.Artifact.ID, a2a.NewTextPart("done"))
		done.LastChunk = true
		before := []a2a.Event{
			a2a.NewSubmittedTask(call, call.Message),
			a2a.NewStatusUpdateEvent(call, a2a.TaskStateWorking, nil),
			begun,
		}
		after := []a2a.Event{done, a2a.NewStatusUpdateEvent(call, a2a.TaskStateCompleted, nil)}
		for _, event := range before {
			if !yield(event, nil) {
				return
			}
		}
		for ctx.Err() == nil && !exists(w.release) {
			time.Sleep(50 * time.Millisecond)
		}
		for _, event := range after {
			if !yield(event, nil) {
				return
			}
		}
	}
}

func (worker) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(func(a2a.Event, error) bool) {}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func main() {
	address, release := "127.0.0.1:"+os.Args[1], os.Args[2]
	card := &a2a.AgentCard{
		Name:         "worker",
		Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface("http://"+address+"/", a2a.TransportProtocolJSONRPC),
		},
	}
	pushes := a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil))
	http.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	http.Handle("/", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(worker{release}, pushes)))
	http.ListenAndServe(address, nil)
}
