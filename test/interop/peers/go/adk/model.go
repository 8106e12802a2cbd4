package main

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"strings"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"peers/program"
)

// fakeModel answers to words. It is a model without a network.
type fakeModel struct{}

func (fakeModel) Name() string {
	return "fake"
}

func (fakeModel) GenerateContent(ctx context.Context, request *model.LLMRequest, streams bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		var said []string
		file := ""
		for _, content := range request.Contents {
			if content.Role != genai.RoleUser {
				continue
			}
			for _, part := range content.Parts {
				if part.Text != "" {
					said = append(said, part.Text)
				}
				if part.InlineData != nil {
					file = base64.StdEncoding.EncodeToString(part.InlineData.Data)
				}
			}
		}
		text := said[len(said)-1]
		word, path, _ := strings.Cut(text, " ")
		switch word {
		case "tell":
			if !yield(answer("one ", true), nil) {
				return
			}
			program.WaitFor(ctx, path)
			if yield(answer("two", true), nil) {
				yield(answer("one two", false), nil)
			}
		case "wait":
			if yield(answer("one ", true), nil) {
				<-ctx.Done()
			}
		case "throw":
			yield(nil, errors.New("the kettle broke"))
		case "recall":
			yield(answer("heard "+strings.Join(said[:len(said)-1], " and "), false), nil)
		case "echo":
			yield(answer("got "+file, false), nil)
		default:
			yield(answer("heard "+text, false), nil)
		}
	}
}

func answer(text string, isPartial bool) *model.LLMResponse {
	content := genai.NewContentFromText(text, genai.RoleModel)
	return &model.LLMResponse{Content: content, Partial: isPartial, TurnComplete: !isPartial}
}
