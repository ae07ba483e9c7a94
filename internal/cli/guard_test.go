package cli

import (
	"bufio"
	"fmt"
	"os/exec"
	"testing"
)

// BenchmarkGuard measures a call, that is a before and an after with their answers, through a process of its own: sent ahead,
// and one line at a time, which waits for each answer.
func BenchmarkGuard(b *testing.B) {
	for _, mode := range []struct {
		name  string
		waits bool
	}{{"sent ahead", false}, {"line by line", true}} {
		b.Run(mode.name, func(b *testing.B) {
			cmd := exec.Command("unloop", "guard")
			stdin, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			requests, answers := bufio.NewWriterSize(stdin, 64<<10), bufio.NewReaderSize(stdout, 64<<10)
			send := func(k int, format string) {
				fmt.Fprintf(requests, format, k, k%40, k)
				if mode.waits {
					_ = requests.Flush() // its answer is awaited
				}
			}
			receive := func() {
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Error(err)
				}
			}
			b.ResetTimer()
			if mode.waits {
				for k := range b.N {
					send(k, benchBefore)
					receive()
					send(k, benchAfter)
					receive()
				}
			} else {
				go func() {
					for k := range b.N {
						send(k, benchBefore)
						send(k, benchAfter)
					}
					_ = requests.Flush() // the answers are counted below
				}()
				for range 2 * b.N {
					receive()
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			_ = stdin.Close()
			if err := cmd.Wait(); err != nil {
				b.Error(err)
			}
		})
	}
}

const (
	benchBefore = `{"op":"before","id":%d,"run":"run-%d","tool":"read_file","args":{"path":"src/module/part%d.go","offset":0,"limit":200,"encoding":"utf-8","reason":"look at how the request is parsed before the change"}}` + "\n"
	benchAfter  = `{"op":"after","id":%d,"run":"run-%d","tool":"read_file","result":{"content":"package module // part %d of many, with what a file has in it","lines":200,"truncated":false,"encoding":"utf-8"},"duration_ms":12.5}` + "\n"
)
