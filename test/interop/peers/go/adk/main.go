// Peer in Go: the agent and the remote agent of ADK. ../../peer-program.ts describes the commands.
package main

import (
	"context"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/a2asrv"
	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/remoteagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/server/adka2a"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"peers/program"
)

func main() {
	args := os.Args[1:]
	if args[0] == "a2a-serve" {
		panic(serve(args[1], args[2], args[4]))
	}
	if err := call(args[1], args[4:]); err != nil {
		program.PrintError(err)
	}
}

func serve(binding, port, address string) error {
	talker, err := llmagent.New(llmagent.Config{Name: "talker", Description: "Talks", Model: fakeModel{}})
	if err != nil {
		return err
	}
	card := &a2a.AgentCard{
		Name:               "talker",
		Description:        "Talks",
		Version:            "1.0.0",
		ProtocolVersion:    string(a2a.Version),
		URL:                address,
		PreferredTransport: a2a.TransportProtocol(binding),
		Skills:             adka2a.BuildAgentSkills(talker),
		Capabilities:       a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
	}
	executor := adka2a.NewExecutor(adka2a.ExecutorConfig{
		RunnerConfig: runner.Config{AppName: "talker", Agent: talker, SessionService: session.InMemoryService()},
		RunConfig:    agent.RunConfig{StreamingMode: agent.StreamingModeSSE},
	})
	http.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(card))
	http.Handle("/", program.Guard(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor))))
	return program.Serve(port)
}

func call(base string, texts []string) error {
	ctx := context.Background()
	card, err := agentcard.NewResolver(program.HttpClient()).Resolve(ctx, base)
	if err != nil {
		return err
	}
	remote, err := remoteagent.NewA2A(remoteagent.A2AConfig{
		Name:          "remote",
		AgentCard:     card,
		ClientFactory: a2aclient.NewFactory(a2aclient.WithJSONRPCTransport(program.HttpClient())),
	})
	if err != nil {
		return err
	}
	sessions := session.InMemoryService()
	runs, err := runner.New(runner.Config{AppName: "caller", Agent: remote, SessionService: sessions})
	if err != nil {
		return err
	}
	begun, err := sessions.Create(ctx, &session.CreateRequest{AppName: "caller", UserID: "user"})
	if err != nil {
		return err
	}
	config := agent.RunConfig{StreamingMode: agent.StreamingModeSSE}
	for _, text := range texts {
		said := genai.NewContentFromText(text, genai.RoleUser)
		for event, err := range runs.Run(ctx, "user", begun.Session.ID(), said, config) {
			if err != nil {
				return err
			}
			program.Print(event)
		}
	}
	return nil
}
