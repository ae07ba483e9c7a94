package app

import (
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/memory"
)

// shares divides the memory of the server among its parts, and sets the memory limit of the runtime. Configured sizes of the
// queue and of traces replace their shares.
func shares(c *config.Config) memory.Shares {
	budget := int64(c.Memory)
	if budget == 0 {
		budget = memory.Default(int64(config.LeastMemory(c.Limits.Body)))
	}
	memory.LimitLater(budget)
	s := memory.Split(budget)
	if c.Limits.QueueBytes != 0 {
		s.Queue = int64(c.Limits.QueueBytes)
	}
	if c.Limits.TraceBytes != 0 {
		s.Traces = int64(c.Limits.TraceBytes)
	}
	return s
}
