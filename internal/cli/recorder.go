package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/client"
)

// recorder records events of guarded runs on a server, and fetches the orders that people give there.
type recorder struct {
	record   func(*unloop.Event)                                      // nil without a server
	controls func(run string, take func(*unloop.Event)) (stop func()) // nil without a server
	close    func()
}

// connectRecorder returns a recorder for the server at an address. If the address is "", it records and fetches nothing.
func connectRecorder(cmd *cobra.Command, address string) (*recorder, error) {
	if address == "" {
		return &recorder{close: func() {}}, nil
	}
	c, err := client.New(address, os.Getenv("UNLOOP_TOKEN"))
	if err != nil {
		return nil, err
	}
	background := newSender(c, cmd.ErrOrStderr()).Background(client.Bounds{Events: 16384, Bytes: 64 << 20, Every: 500 * time.Millisecond})
	orders := client.NewOrders(c.Listen)
	r := &recorder{record: func(e *unloop.Event) { background.Add(e, nil) }, controls: orders.Controls}
	r.close = func() {
		orders.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 5*time.Second)
		defer cancel()
		_ = background.Close(ctx) // the message below has the number of events that were not sent
		if n := background.Stats().Dropped; n > 0 {
			complain(cmd.ErrOrStderr(), fmt.Sprintf("%s not recorded: the server was too slow or unreachable", plural(n, "event was", "events were")))
		}
	}
	return r, nil
}
