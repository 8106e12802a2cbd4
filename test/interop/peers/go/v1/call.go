package v1

import (
	"context"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2agrpc/v1"

	"peers/program"
)

type caller struct {
	ctx    context.Context
	client *a2aclient.Client
}

// Call does an operation as client, and prints each answer.
func Call(base, binding, operation string, args []string) {
	client, err := connect(base, binding)
	if err != nil {
		program.PrintError(err)
		return
	}
	it := caller{context.Background(), client}
	if err := it.do(operation, args); err != nil {
		program.PrintError(err)
	}
}

func connect(base, binding string) (*a2aclient.Client, error) {
	ctx := context.Background()
	card, err := agentcard.NewResolver(program.HttpClient()).Resolve(ctx, base)
	if err != nil {
		return nil, err
	}
	for _, it := range card.SupportedInterfaces {
		if string(it.ProtocolBinding) != binding || it.ProtocolVersion != a2a.Version {
			continue
		}
		port := it.URL[strings.LastIndex(it.URL, ":")+1:]
		if binding == "GRPC" {
			it.URL = "passthrough:///" + strings.TrimPrefix(it.URL, "http://")
		}
		return a2aclient.NewFromEndpoints(ctx, []*a2a.AgentInterface{it},
			a2aclient.WithJSONRPCTransport(program.HttpClient()),
			a2aclient.WithRESTTransport(program.HttpClient()),
			a2agrpc.WithGRPCTransport(program.DialOptions(port)...),
		)
	}
	return nil, a2a.NewError(a2a.ErrInvalidRequest, "the card has no interface of "+binding)
}

func (it caller) do(operation string, args []string) error {
	switch operation {
	case "send":
		_, err := it.send(text(args[0]), nil)
		return err
	case "stream":
		return it.read(it.client.SendStreamingMessage(it.ctx, &a2a.SendMessageRequest{Message: text(args[0])}))
	case "ask":
		return it.then(text(args[0]), func(task *a2a.Task) error {
			reply := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(args[1]))
			_, err := it.send(reply, nil)
			return err
		})
	case "follow-up":
		return it.then(text(args[0]), func(task *a2a.Task) error {
			next := text(args[1])
			next.ContextID = task.ContextID
			_, err := it.send(next, nil)
			return err
		})
	case "parts":
		file := a2a.NewRawPart([]byte("%PDF"))
		file.Filename, file.MediaType = "tea.pdf", "application/pdf"
		data := a2a.NewDataPart(map[string]any{"cups": 2})
		_, err := it.send(a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(args[0]), data, file), nil)
		return err
	case "cancel":
		task, err := it.send(text(args[0]), &a2a.SendMessageConfig{ReturnImmediately: true})
		if err != nil {
			return err
		}
		return printed(it.client.CancelTask(it.ctx, &a2a.CancelTaskRequest{ID: task.ID}))
	case "resubscribe":
		task, err := it.send(text(args[0]), &a2a.SendMessageConfig{ReturnImmediately: true})
		if err != nil {
			return err
		}
		return it.read(it.client.SubscribeToTask(it.ctx, &a2a.SubscribeToTaskRequest{ID: task.ID}))
	case "push":
		config := &a2a.PushConfig{URL: args[1], Token: args[2]}
		_, err := it.send(text(args[0]), &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: config})
		return err
	}
	return printed(it.client.GetTask(it.ctx, &a2a.GetTaskRequest{ID: "none"}))
}

func (it caller) then(message *a2a.Message, next func(*a2a.Task) error) error {
	task, err := it.send(message, nil)
	if err != nil {
		return err
	}
	return next(task)
}

func (it caller) send(message *a2a.Message, config *a2a.SendMessageConfig) (*a2a.Task, error) {
	result, err := it.client.SendMessage(it.ctx, &a2a.SendMessageRequest{Message: message, Config: config})
	if err != nil {
		return nil, err
	}
	program.Print(result)
	task, _ := result.(*a2a.Task)
	return task, nil
}

func (it caller) read(events iter.Seq2[a2a.Event, error]) error {
	for event, err := range events {
		if err != nil {
			return err
		}
		program.Print(event)
	}
	return nil
}

func printed(task *a2a.Task, err error) error {
	if err == nil {
		program.Print(task)
	}
	return err
}

func text(words string) *a2a.Message {
	return a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(words))
}
