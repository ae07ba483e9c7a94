package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/report"
)

// outcomes maps the status of a run to the outcome of a labelled run. The outcome of a run with another status is unknown.
var outcomes = map[string]string{"completed": "success", "failed": "failure"}

// exportLabelled writes the runs that people labelled, one per line. Without any it says so. A run is in memory as a whole.
func exportLabelled(ctx context.Context, c *client.Client, to, stderr io.Writer) error {
	labels, err := c.Labels(ctx)
	if err != nil {
		return err
	}
	if len(labels) == 0 {
		complain(stderr, "no run is labelled: label runs on their pages in the dashboard, or with POST /api/acts")
	}
	w := bufio.NewWriterSize(to, 64<<10)
	for _, l := range labels {
		run, err := c.Run(ctx, l.RunID)
		if err != nil {
			return fmt.Errorf("run %q: %w", l.RunID, err)
		}
		var events bytes.Buffer
		err = c.Events(ctx, l.RunID, func(line []byte) error {
			if events.Len() > 0 {
				events.WriteByte(',')
			}
			fmt.Fprintf(&events, `{"kind":"event","event":%s}`, bytes.TrimSpace(report.EscapeJSON(line)))
			return nil
		})
		if err != nil {
			return fmt.Errorf("run %q: %w", l.RunID, err)
		}
		head, err := json.Marshal(map[string]any{"id": l.RunID, "source": "unloop", "outcome": outcomes[run.Status]})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, `%s,"labels":{"step_repetition":%t},"events":[%s]}`+"\n", report.EscapeJSON(head[:len(head)-1]), l.Label != "not_a_loop", &events)
	}
	return errors.Join(err, w.Flush())
}
