// Command goagent is a guarded agent for the browser tests. It calls its tool again and again, with a new result each time, and prints
// a line for each call that ran. It reports to the server at UNLOOP_ENDPOINT and hears its orders. Its argument is the id of the run.
// It exits with status 3 when a person halts the run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/reporter"
	"github.com/unloop-ai/unloop/profile"
)

func main() {
	err := run(context.Background(), os.Args[1])
	var halted *guard.LoopError
	switch {
	case errors.As(err, &halted):
		fmt.Println("halted:", halted.Nudge)
		os.Exit(3)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, id string) error {
	p, err := profile.New(profile.Default)
	if err != nil {
		return err
	}
	r, err := reporter.New(reporter.Options{Every: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	g := guard.New(p, guard.Options{Run: id, Events: r.Add, Controls: r.Controls})
	calls := 0
	read := g.Wrap("read_page", func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
		return json.Marshal(map[string]string{"page": string(args), "text": fmt.Sprint("chapter ", calls*7919)})
	})
	for {
		calls++
		answer, err := read(ctx, json.RawMessage(fmt.Sprintf(`{"page":%d}`, calls)))
		if err != nil {
			g.Close()
			return errors.Join(err, r.Close(ctx))
		}
		fmt.Println("call", string(answer))
		time.Sleep(50 * time.Millisecond) // a pause between calls, so that orders from the page find the agent running
	}
}
