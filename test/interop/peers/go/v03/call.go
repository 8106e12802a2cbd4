package v03

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"

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
	offered := append(card.AdditionalInterfaces, a2a.AgentInterface{Transport: card.PreferredTransport, URL: card.URL})
	for _, it := range offered {
		if string(it.Transport) != binding {
			continue
		}
		port := it.URL[strings.LastIndex(it.URL, ":")+1:]
		if binding == "GRPC" {
			it.URL = "passthrough:///" + strings.TrimPrefix(it.URL, "http://")
		}
		return a2aclient.NewFromEndpoints(ctx, []a2a.AgentInterface{it},
			a2aclient.WithJSONRPCTransport(program.HttpClient()),
			a2aclient.WithGRPCTransport(program.DialOptions(port)...),
		)
	}
	return nil, errors.New("the card has no interface of " + binding)
}

func (it caller) do(operation string, args []string) error {
	switch operation {
	case "send":
		_, err := it.send(text(args[0]), nil)
		return err
	case "stream":
		return it.read(it.client.SendStreamingMessage(it.ctx, &a2a.MessageSendParams{Message: text(args[0])}))
	case "ask":
		task, err := it.send(text(args[0]), nil)
		if err == nil {
			_, err = it.send(a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.TextPart{Text: args[1]}), nil)
		}
		return err
	case "follow-up":
		task, err := it.send(text(args[0]), nil)
		if err == nil {
			next := text(args[1])
			next.ContextID = task.ContextID
			_, err = it.send(next, nil)
		}
		return err
	case "parts":
		meta := a2a.FileMeta{Name: "tea.pdf", MimeType: "application/pdf"}
		file := a2a.FilePart{File: a2a.FileBytes{FileMeta: meta, Bytes: base64.StdEncoding.EncodeToString([]byte("%PDF"))}}
		data := a2a.DataPart{Data: map[string]any{"cups": 2}}
		_, err := it.send(a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: args[0]}, data, file), nil)
		return err
	case "cancel":
		task, err := it.send(text(args[0]), atOnce(nil))
		if err != nil {
			return err
		}
		return printed(it.client.CancelTask(it.ctx, &a2a.TaskIDParams{ID: task.ID}))
	case "resubscribe":
		task, err := it.send(text(args[0]), atOnce(nil))
		if err != nil {
			return err
		}
		return it.read(it.client.ResubscribeToTask(it.ctx, &a2a.TaskIDParams{ID: task.ID}))
	case "push":
		_, err := it.send(text(args[0]), atOnce(&a2a.PushConfig{URL: args[1], Token: args[2]}))
		return err
	}
	return printed(it.client.GetTask(it.ctx, &a2a.TaskQueryParams{ID: "none"}))
}

func atOnce(push *a2a.PushConfig) *a2a.MessageSendConfig {
	blocking := false
	return &a2a.MessageSendConfig{Blocking: &blocking, PushConfig: push}
}

func (it caller) send(message *a2a.Message, config *a2a.MessageSendConfig) (*a2a.Task, error) {
	result, err := it.client.SendMessage(it.ctx, &a2a.MessageSendParams{Message: message, Config: config})
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
	return a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: words})
}
