package redisstore_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/redisstore"
	"github.com/unloop-ai/unloop/internal/redistest"
	"github.com/unloop-ai/unloop/profile"
)

// BenchmarkCall measures Before and After of a call in runs of 20 calls, with a Redis on the same machine: by one guard, and by two
// guards in turn, so that each call begins with a conflict.
func BenchmarkCall(b *testing.B) {
	p, err := profile.New(profile.Default)
	if err != nil {
		b.Fatal(err)
	}
	for _, machines := range []int{1, 2} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			s, err := redisstore.New(redistest.Start(b).Client(b), time.Hour)
			if err != nil {
				b.Fatal(err)
			}
			guards := make([]*guard.Guard, machines)
			for n := 0; b.Loop(); n++ {
				if n%20 == 0 {
					for k := range guards {
						guards[k] = guard.New(p, guard.Options{Run: fmt.Sprint("run ", n/20), Shared: &guard.Shared{Store: s, Project: "shop"}})
					}
				}
				g := guards[n%machines]
				c := guard.Call{Tool: "read_file", Args: json.RawMessage(fmt.Sprintf(`{"path":"src/file%d.go"}`, n))}
				g.Before(b.Context(), c)
				g.After(b.Context(), c, guard.Outcome{Result: json.RawMessage(fmt.Sprintf(`"package p%d // with a comment number %d"`, n, n*7))})
			}
		})
	}
}
