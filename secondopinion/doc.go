// Package secondopinion asks a model whether an agent is stuck. A Client answers the questions of policy.Opinions over any chat
// endpoint with the API of OpenAI, and is the Reviewer of a guard.SecondOpinion:
//
//	client, err := secondopinion.New(secondopinion.Settings{Endpoint: "http://127.0.0.1:11434/v1", Model: "qwen3"}, nil)
//	g := guard.New(p, guard.Options{SecondOpinion: &guard.SecondOpinion{Reviewer: client, Wait: 5 * time.Second, Mask: client.Mask}})
//
// docs/second-opinion.md describes what is sent and what it costs.
package secondopinion
