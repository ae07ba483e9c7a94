package cli

import (
	"bufio"
	"bytes"
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
			var lines [][]byte
			for k := range b.N {
				lines = append(lines, fmt.Appendf(nil, benchBefore, k, k%40, k), fmt.Appendf(nil, benchAfter, k, k%40, k))
			}
			answers := bufio.NewReaderSize(stdout, 64<<10)
			receive := func() {
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			if mode.waits {
				for _, line := range lines {
					_, _ = stdin.Write(line) // its answer is awaited
					receive()
				}
			} else {
				go func() { _, _ = stdin.Write(bytes.Join(lines, nil)) }() // the answers are counted
				for range lines {
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
