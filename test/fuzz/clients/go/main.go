// Calls the API with the client that oapi-codegen makes of the OpenAPI document.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Saves a workflow at the service of os.Args[1], lists workflows, runs it, and prints what each answer holds.
func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client, err := NewClientWithResponses(os.Args[1])
	check(err)
	var workflow WorkflowBody
	check(json.Unmarshal([]byte(os.Args[2]), &workflow))
	saved, err := client.CreateWorkflowWithResponse(ctx, nil, workflow)
	check(err)
	if saved.JSON201 == nil {
		check(fmt.Errorf("createWorkflow: %s %s", saved.Status(), saved.Body))
	}
	refused, err := client.CreateWorkflowWithResponse(ctx, nil, workflow)
	check(err)
	listed, err := client.ListWorkflowsWithResponse(ctx, nil)
	check(err)
	started, err := client.StartRunWithResponse(ctx, workflow.Name, nil, RunBody{Inputs: &map[string]any{"in": "tea"}})
	check(err)
	if started.JSON202 == nil {
		check(fmt.Errorf("startRun: %s %s", started.Status(), started.Body))
	}
	run := readRun(ctx, client, started.JSON202.RunId)
	fmt.Println(refused.ApplicationproblemJSON409.Reason, isListed(*listed.JSON200, workflow.Name), run.Status)
}

func readRun(ctx context.Context, client *ClientWithResponses, id string) RunDetail {
	for {
		read, err := client.GetRunWithResponse(ctx, id)
		check(err)
		if read.JSON200 == nil {
			check(fmt.Errorf("getRun: %s %s", read.Status(), read.Body))
		}
		if read.JSON200.Status != "running" {
			return *read.JSON200
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func isListed(workflows []WorkflowView, name string) bool {
	for _, workflow := range workflows {
		if workflow.Name == name {
			return true
		}
	}
	return false
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
